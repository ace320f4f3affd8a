import { QUERY_WAIT_MS } from '../../infra/api/timeouts.ts';
import type { Stage } from '../../infra/stage.ts';
import { type AccountQuotas, QUOTAS, type QuotaName } from './quotas.ts';

/** Requests for one report, on average, in the simulated rush (docs/benchmarks.md, "The rush at six"). */
const REQUESTS_A_REPORT = 1.4;
/** How long a function runs before and after the query. */
const BESIDE_QUERY_SECONDS = 1;

/** The largest share of the account's active queries that one partner should have. */
const LARGEST_SHARE = 1 / 4;

/** AWS keeps at least this many executions unreserved. */
const UNRESERVED = 100;

/** So many reserved executions are enough for the publishing function. */
const FOR_PUBLISHING = 5;

/** One limit, and how many new reports a second it lets through. */
interface Limit {
  readonly name: string;
  readonly value: number;
  readonly reportsPerSecond: number;
}

/** Something that will go wrong, and what to do. */
interface Finding {
  readonly finding: string;
  readonly remedy: string;
}

export interface Diagnosis {
  /** The narrowest first. */
  readonly limits: readonly Limit[];
  readonly findings: readonly Finding[];
}

type StageFacts = Pick<Stage, 'throttling' | 'queries' | 'identity' | 'reservedConcurrency'>;

/**
 * Which limit is reached first, and what will go wrong.
 *
 * @param querySeconds the mean duration of a report's query
 */
export function diagnose(quotas: AccountQuotas, stage: StageFacts, querySeconds: number): Diagnosis {
  const { requestsPerSecond } = stage.throttling;
  const isCognito = stage.identity.provider === 'cognito';
  const limitWhereKnown = (
    { name }: Pick<QuotaName, 'name'>,
    value: number | undefined,
    costOfReport: number,
  ) => (value === undefined ? [] : [{ name, value, reportsPerSecond: value / costOfReport }]);
  const limits = [
    ...limitWhereKnown(
      { name: 'this stage, throttling.requestsPerSecond' },
      requestsPerSecond,
      REQUESTS_A_REPORT,
    ),
    ...limitWhereKnown(QUOTAS.executions, quotas.executions?.value, querySeconds + BESIDE_QUERY_SECONDS),
    ...limitWhereKnown(QUOTAS.activeQueries, quotas.activeQueries?.value, querySeconds),
    ...limitWhereKnown(QUOTAS.starts, quotas.starts?.value, 1),
    ...limitWhereKnown(QUOTAS.requests, quotas.requests?.value, REQUESTS_A_REPORT),
    // Each job fetches a token; at worst, it pulls only one report with it.
    ...(isCognito ? limitWhereKnown(QUOTAS.tokens, quotas.tokens?.value, 1) : []),
  ].sort((one, other) => one.reportsPerSecond - other.reportsPerSecond);
  return {
    limits,
    findings: [
      ...tooFewExecutions(quotas, stage),
      ...nothingPublishes(quotas, stage),
      ...tooFewQueries(quotas, limits[0], querySeconds),
      ...tooLargeShare(quotas, stage),
      ...tooFewRequests(quotas, stage),
    ],
  };
}

/** Every request may wait for a report. Beyond the quota, Lambda refuses, and partners are answered 502 or 500. */
function tooFewExecutions(
  { executions, reservedExecutions }: AccountQuotas,
  { throttling, reservedConcurrency }: StageFacts,
): Finding[] {
  const waitSeconds = QUERY_WAIT_MS / 1_000;
  const needed = throttling.requestsPerSecond * waitSeconds;
  // What the stage itself reserves may be deployed, and so among the reserved executions, or not yet.
  const own = Math.min(reservedExecutions, reservedConcurrency?.publish ?? 0);
  if (!executions || executions.value + own >= needed) return [];
  const affordable = Math.max(1, Math.floor(executions.value / waitSeconds));
  const until =
    affordable < throttling.requestsPerSecond
      ? `\n  Until then, set throttling.requestsPerSecond: ${affordable}, so that partners are told 429 and when to come again.`
      : '';
  return [
    {
      finding:
        `${throttling.requestsPerSecond} requests a second that wait ${waitSeconds} s hold ${needed} executions of Lambda; ` +
        `the account has ${executions.value}. Beyond them partners are answered 502.`,
      remedy:
        raise(
          QUOTAS.executions,
          Math.max(1_000, needed) + reservedExecutions - own,
          executions.isAdjustable,
        ) + until,
    },
  ];
}

/** Requests that wait may take every execution, and then large reports are not published. */
const nothingPublishes = ({ executions }: AccountQuotas, { reservedConcurrency }: StageFacts): Finding[] =>
  executions && executions.value >= UNRESERVED + FOR_PUBLISHING && reservedConcurrency === undefined
    ? [
        {
          finding:
            'Requests that wait may take every execution of Lambda; large reports are not published then.',
          remedy: `Set reservedConcurrency: { publish: ${FOR_PUBLISHING} } in the stage.`,
        },
      ]
    : [];

/** Only where this quota is the first limit: elsewhere, more active queries help nothing. */
function tooFewQueries(
  { activeQueries }: AccountQuotas,
  first: Limit | undefined,
  querySeconds: number,
): Finding[] {
  if (!activeQueries || first?.name !== QUOTAS.activeQueries.name) return [];
  return [
    {
      finding: `${activeQueries.value} queries of ${querySeconds} s at a time are ${rate(first.reportsPerSecond)} reports a second; further ones wait, and are answered 503 after twice longestQuerySeconds.`,
      remedy: raise(QUOTAS.activeQueries, Math.max(200, 2 * activeQueries.value), activeQueries.isAdjustable),
    },
  ];
}

function tooLargeShare({ activeQueries }: AccountQuotas, { queries }: StageFacts): Finding[] {
  const most = Math.max(1, Math.floor((activeQueries?.value ?? Number.POSITIVE_INFINITY) * LARGEST_SHARE));
  if (queries.underWayPerPartner <= most) return [];
  return [
    {
      finding: `One partner may have ${queries.underWayPerPartner} of the account's ${activeQueries?.value} active queries: the others wait behind it.`,
      remedy: `Set queries.underWayPerPartner: ${most}.`,
    },
  ];
}

function tooFewRequests({ requests }: AccountQuotas, { throttling }: StageFacts): Finding[] {
  if (!requests || requests.value >= throttling.requestsPerSecond) return [];
  return [
    {
      finding: `The stage takes ${throttling.requestsPerSecond} requests a second, all of the account's APIs together ${requests.value}.`,
      remedy: raise(QUOTAS.requests, throttling.requestsPerSecond, requests.isAdjustable),
    },
  ];
}

const raise = ({ service, code, name }: QuotaName, value: number, isAdjustable = true): string =>
  isAdjustable
    ? `aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${code} --desired-value ${value}`
    : `AWS does not raise "${name}" on request: ask its support, or use another account or region.`;

const rate = (value: number): string => String(Number(value.toPrecision(2)));

/** A diagnosis, in lines for a terminal. */
export function describeDiagnosis({ limits, findings }: Diagnosis): string[] {
  const width = Math.max(...limits.map(({ name }) => name.length));
  return [
    'New reports a second that each place lets through, the narrowest first:',
    ...limits.map(
      ({ name, value, reportsPerSecond }) =>
        `  ${rate(reportsPerSecond).padStart(6)}  ${name.padEnd(width)}  ${value}`,
    ),
    '',
    ...(findings.length === 0 ? ['Nothing else to mend.'] : []),
    ...findings.flatMap(({ finding, remedy }) => [finding, `  ${remedy}`]),
  ];
}
