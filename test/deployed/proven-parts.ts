import { RESULTS_PREFIX } from '../../lib/names.ts';
import { reports } from '../../lib/report/catalogue.ts';

/** The situations in which `permission-parts.test.ts` shows that a function needs a part of a policy statement. */
export type Situation =
  | 'report' // a small report, given at once
  | 'waiting room' // a report whose query takes longer than the first request waits
  | 'share' // a report that waited for a slot, so that the waiting room starts its query
  | 'stopped query' // a query that takes too long, stopped by the first request
  | 'query stopped in the waiting room' // a query that takes too long, stopped there
  | 'publication under way' // a large report whose publication is under way
  | 'publication to ask for' // a large report that nobody has asked to be published
  | 'publishing' // the publication of a large report
  | 'giving up'; // a large report whose publication is given up

/** One action or folder of a policy statement that the roles of `functions` have. */
export interface PermissionPart {
  readonly functions: readonly string[];
  readonly sid: string;
  /** An action, such as `athena:StopQueryExecution`, or a folder of the results bucket, such as `jobs/`. */
  readonly part: string;
  /** The situation in which a function without this part answers 500. */
  readonly situation: Situation;
}

const reportFunctions = reports.map(({ name }) => name);

type Folder = keyof typeof RESULTS_PREFIX;

/** The parts of one statement. `proofs` lists them by the situation that proves the need for them. */
function partsOf(
  functions: readonly string[],
  sid: string,
  proofs: readonly (readonly [Situation, readonly (Folder | `athena:${string}`)[]])[],
): PermissionPart[] {
  return proofs.flatMap(([situation, parts]) =>
    parts.map((name) => {
      const part = name in RESULTS_PREFIX ? RESULTS_PREFIX[name as Folder] : name;
      return { functions, sid, part, situation };
    }),
  );
}

const folders = (...names: readonly Folder[]) => names.map((name) => RESULTS_PREFIX[name]);

/** Parts for which the deployed tests can't prove a need, with the reason. */
export const unprovenParts = [
  // AWS only: the emulator does not look at single prefixes of a condition.
  { functions: ['downloads'], sid: 'ListEvents', parts: reports.map(({ table }) => `${table}/`) },
  // The release before fails at every report.
  { functions: reportFunctions, sid: 'ReadResults', parts: folders('orders', 'cached') },
  { functions: [...reportFunctions, 'downloads'], sid: 'WriteResults', parts: folders('cached') },
  // The release before fails at a report that waited for its slot, and at an unknown ticket.
  { functions: ['downloads'], sid: 'ReadResults', parts: folders('orders', 'cached', 'tickets') },
  // The release before fails at a large report; so does this one if the release before gave it up.
  { functions: [...reportFunctions, 'downloads'], sid: 'ReadResults', parts: folders('publications') },
  // The release before can not publish a large report.
  { functions: ['publish'], sid: 'ReadResults', parts: folders('cached') },
  { functions: ['publish'], sid: 'WriteResults', parts: folders('cached') },
  // Callers that wait with the release before are not told that a publication was given up.
  { functions: ['abandon'], sid: 'WriteResults', parts: folders('abandoned') },
];

/**
 * The actions and folders that the deployed tests prove to be needed. A statement's only action, or its only folder, is
 * not listed.
 */
export const permissionParts: readonly PermissionPart[] = [
  ...partsOf(reportFunctions, 'RunQueries', [
    ['report', ['athena:StartQueryExecution', 'athena:GetQueryExecution']],
    ['stopped query', ['athena:StopQueryExecution']],
  ]),
  ...partsOf(reportFunctions, 'ReadResults', [
    ['report', ['athena', 'jobs', 'slots']],
    ['publication under way', ['reports', 'abandoned']],
  ]),
  ...partsOf(reportFunctions, 'WriteResults', [
    ['report', ['reports', 'jobs', 'slots']],
    ['waiting room', ['waiting']],
    ['publication to ask for', ['publications']],
  ]),
  ...partsOf(['downloads'], 'RunQueries', [
    ['waiting room', ['athena:GetQueryExecution']],
    ['share', ['athena:StartQueryExecution']],
    ['query stopped in the waiting room', ['athena:StopQueryExecution']],
  ]),
  ...partsOf(['downloads'], 'ReadResults', [
    ['waiting room', ['athena', 'jobs', 'waiting']],
    ['share', ['slots']],
    ['publication under way', ['reports', 'abandoned']],
  ]),
  ...partsOf(['downloads'], 'WriteResults', [
    ['waiting room', ['reports', 'jobs']],
    ['share', ['waiting', 'slots']],
    ['publication to ask for', ['publications']],
  ]),
  ...partsOf(['publish'], 'ReadResults', [['publishing', ['athena', 'reports', 'publications', 'jobs']]]),
  ...partsOf(['publish'], 'WriteResults', [['publishing', ['reports', 'jobs']]]),
  ...partsOf(['abandon'], 'ReadResults', [['giving up', ['publications', 'jobs']]]),
  ...partsOf(['abandon'], 'WriteResults', [['giving up', ['jobs']]]),
];
