import { FIRST_WAIT_MS, QUERY_WAIT_MS } from '../../lib/function-settings.ts';
import { type Report, reports } from '../../lib/report/catalogue.ts';
import { daysFunction, PUBLIC_FUNCTION, routes } from '../../lib/routes.ts';
import {
  failurePermission,
  listingPermissions,
  lostEventPermission,
  type Permission,
  partnersPermissions,
  queryPermissions,
  resultsPermissions,
  type ServiceResources,
  uploadPermission,
} from './permissions.ts';

/**
 * The load of a route whose requests wait. `part` is the share of the stage's executions that these requests may hold.
 * `waitsSeconds` is how long each request holds one execution. The rest of the executions is for quick answers,
 * publishing and the probe.
 */
interface Load {
  readonly part: number;
  readonly waitsSeconds: number;
}

/**
 * One Lambda function. It has a file in `functions/`, an entry in this file, and settings in
 * `lib/function-settings.ts`. `lib/routes.ts` says which requests reach it.
 */
export interface ServiceFunction {
  /** Name of the function's file in `functions/` and of its bundle's folder. */
  readonly name: string;
  readonly description: string;
  /** Undefined if its requests wait for nothing. */
  readonly load?: Load;
  readonly permissions: (service: ServiceResources) => readonly Permission[];
}

/**
 * Folders that release 1.0.0 reads or writes and this release does not. A rollback changes the code but not the roles,
 * so these rights stay for one more release.
 */
const before = {
  reports: ['cached', 'orders'],
  downloads: ['cached', 'orders', 'tickets'],
  publish: ['cached'],
} as const;

/** The share of the executions that the reports divide, and what each keeps free for its HEAD, preflights and days. */
const [PART_OF_REPORTS, PART_OF_FURTHER_METHODS] = [0.52, 0.04];

const reportFunction = (report: Report): ServiceFunction => ({
  name: report.name,
  description: report.title,
  load: {
    part: PART_OF_REPORTS / reports.length - PART_OF_FURTHER_METHODS,
    waitsSeconds: FIRST_WAIT_MS / 1_000,
  },
  permissions: (service) => [
    ...partnersPermissions(service),
    ...queryPermissions(service, [report]),
    ...resultsPermissions(service, {
      reads: ['athena', 'reports', 'jobs', 'publications', 'abandoned', 'slots', ...before.reports],
      writes: ['reports', 'jobs', 'waiting', 'publications', 'slots', ...before.publish],
    }),
  ],
});

const daysOfReport = (report: Report): ServiceFunction => ({
  name: daysFunction(report),
  description: `Days of the ${report.title.toLowerCase()}: complete or not, changed or not`,
  load: { part: 0.05 / reports.length, waitsSeconds: FIRST_WAIT_MS / 1_000 },
  permissions: (service) => [...partnersPermissions(service), ...listingPermissions(service, [report])],
});

/**
 * The waiting room continues what any report's function began. It can even start the second attempt after a failed
 * query.
 */
const downloads: ServiceFunction = {
  name: 'downloads',
  description: 'Waiting room of reports under way',
  // This is the largest share of a single route, because a request refused in the waiting room wastes a query that is
  // already paid for.
  load: { part: 0.29, waitsSeconds: QUERY_WAIT_MS / 1_000 },
  permissions: (service) => [
    ...partnersPermissions(service),
    ...queryPermissions(service, reports),
    ...resultsPermissions(service, {
      reads: [
        ...(['athena', 'reports', 'jobs', 'waiting', 'publications', 'abandoned', 'slots'] as const),
        ...before.downloads,
      ],
      writes: ['reports', 'jobs', 'waiting', 'publications', 'slots', ...before.publish],
    }),
  ],
};

/** The function for what needs no right, and for every other path and every other method. */
export const publicFunction: ServiceFunction = {
  name: PUBLIC_FUNCTION,
  description: 'The page, the documents, the description of the API, and 404 where there is nothing',
  permissions: () => [],
};

/** The function that Lambda invokes after the last retry of a publication has failed. */
export const abandon: ServiceFunction = {
  name: 'abandon',
  description: 'Tells the waiting callers that a large result will not be published',
  permissions: (service) => [
    ...resultsPermissions(service, { reads: ['publications', 'jobs'], writes: ['jobs', 'abandoned'] }),
    lostEventPermission(service),
  ],
};

export const publish: ServiceFunction = {
  name: 'publish',
  description: 'Publishes results too large to publish while a caller waits',
  permissions: (service) => [
    ...resultsPermissions(service, {
      reads: ['athena', 'reports', 'publications', 'jobs', ...before.publish],
      writes: ['reports', 'jobs', ...before.publish],
    }),
    uploadPermission(service),
    failurePermission(service, abandon.name),
  ],
};

/** The functions that answer a partner who requests a report. */
export const deliveringFunctions: readonly ServiceFunction[] = [...reports.map(reportFunction), downloads];

/** The functions that reports need. */
export const reportingFunctions: readonly ServiceFunction[] = [
  ...reports.map(reportFunction),
  ...reports.map(daysOfReport),
  downloads,
  publish,
  abandon,
];

export const serviceFunctions: readonly ServiceFunction[] = [...reportingFunctions, publicFunction];

/** The functions that requests reach. */
export const requestedFunctions = serviceFunctions.filter(({ name }) =>
  routes.some(({ functionName }) => functionName === name),
);
