import { limitsOfRoutes } from '../../infra/api/method-limits.ts';
import { LEAST_EXECUTIONS, type Stage } from '../../infra/stage.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { downloadPath, reportPath } from '../../lib/routes.ts';
import {
  type AccountQuotas,
  QUERY_SECONDS,
  QUOTAS,
  type QuotaName,
  quotaKeys,
  REQUESTS_A_REPORT,
} from './quotas.ts';

/** The largest share of the account's active queries that one partner should have. */
const LARGEST_SHARE = 1 / 4;

/** AWS keeps at least this many executions unreserved. */
const UNRESERVED = 100;

/** Reserved executions that are enough for the publishing function and for the probe. */
const RESERVED = { publish: 5, probe: 1 } as const;

/** One limit, and the rate of new reports that it lets through. */
interface Limit {
  readonly name: string;
  readonly value: number;
  readonly reportsPerSecond: number;
}

/** Something that will go wrong, and what an operator can do about it. */
export interface Finding {
  readonly finding: string;
  readonly remedy: string;
}

type StageFacts = Pick<Stage, 'executions' | 'queries' | 'identity' | 'reservedConcurrency'>;

/** Finds the limits, the narrowest first, and what will go wrong. */
export function diagnose(quotas: AccountQuotas, stage: StageFacts) {
  const isCognito = stage.identity.provider === 'cognito';
  const ofStage = {
    name: 'this stage, executions',
    value: stage.executions,
    reportsPerSecond: reportsLetIn(stage.executions),
  };
  const ofAccount = quotaKeys.flatMap((key) => {
    const { value } = quotas[key] ?? {};
    if (value === undefined || (key === 'tokens' && !isCognito)) return [];
    return [{ name: QUOTAS[key].name, value, reportsPerSecond: value / QUOTAS[key].costOfReport }];
  });
  const limits: Limit[] = [ofStage, ...ofAccount].sort(
    (one, other) => one.reportsPerSecond - other.reportsPerSecond,
  );
  const findings = [
    tooFewExecutions(quotas, stage),
    nothingPublishes(quotas, stage),
    tooFewQueries(quotas, limits[0]),
    tooLargeShare(quotas, stage),
    tooFewRequests(quotas, stage),
  ];
  return { limits, findings: findings.filter((finding) => finding !== undefined) };
}

/**
 * The new reports per second that the limits of API Gateway let through. The first requests of the reports may not
 * exceed the limits of all report routes together. Their further requests may not exceed the limit of the waiting
 * route. The result is the lower of the two rates.
 */
function reportsLetIn(executions: number): number {
  const limits = limitsOfRoutes(executions);
  const rateOf = (path: string) => limits.get(`${path}/GET`)?.requestsPerSecond ?? 0;
  return Math.min(
    reports.reduce((sum, report) => sum + rateOf(reportPath(report)), 0),
    rateOf(downloadPath('{ticket}', '{hop}')) / (REQUESTS_A_REPORT - 1),
  );
}

/** A finding if the stage may exceed the quota of executions. Lambda then refuses some, and partners get 502 or 500. */
function tooFewExecutions(
  { executions, reservedExecutions }: AccountQuotas,
  { executions: needed, reservedConcurrency }: StageFacts,
): Finding | undefined {
  // The executions that this stage reserves. If it is deployed, `reservedExecutions` already includes them.
  const { publish = 0, probe = 0 } = reservedConcurrency ?? {};
  const own = Math.min(reservedExecutions, publish + probe);
  if (!executions || executions.value + own >= needed) return undefined;
  const { value, isAdjustable } = executions;
  return {
    finding:
      `Requests may hold ${needed} executions of Lambda at a time; the account has ${value}. ` +
      'Beyond them partners are answered 502.',
    remedy:
      raise(QUOTAS.executions, Math.max(1_000, needed) + reservedExecutions - own, isAdjustable) +
      `\n  Until then, set executions: ${Math.max(LEAST_EXECUTIONS, value)}, so that partners are told 429 and when to come again.`,
  };
}

/**
 * A finding if the stage reserves no executions, although the account has enough. Requests and other functions may then
 * take every execution, and large reports are not published.
 */
const nothingPublishes = (
  { executions }: AccountQuotas,
  { reservedConcurrency }: StageFacts,
): Finding | undefined =>
  executions &&
  executions.value >= UNRESERVED + RESERVED.publish + RESERVED.probe &&
  reservedConcurrency === undefined
    ? {
        finding:
          'Requests and other functions may take every execution of Lambda; large reports are not published then.',
        remedy: `Set reservedConcurrency: { publish: ${RESERVED.publish}, probe: ${RESERVED.probe} } in the stage.`,
      }
    : undefined;

/** A finding only if the quota of active queries is the narrowest limit. Otherwise, a larger quota would not help. */
function tooFewQueries({ activeQueries }: AccountQuotas, first: Limit | undefined): Finding | undefined {
  if (!activeQueries || first?.name !== QUOTAS.activeQueries.name) return undefined;
  const { value, isAdjustable } = activeQueries;
  return {
    finding: `${value} queries of ${QUERY_SECONDS} s at a time are ${rate(first.reportsPerSecond)} reports a second; further ones wait, and are answered 503 after twice longestQuerySeconds.`,
    remedy: raise(QUOTAS.activeQueries, Math.max(200, 2 * value), isAdjustable),
  };
}

function tooLargeShare({ activeQueries }: AccountQuotas, { queries }: StageFacts): Finding | undefined {
  const most = Math.max(1, Math.floor((activeQueries?.value ?? Number.POSITIVE_INFINITY) * LARGEST_SHARE));
  if (queries.underWayPerPartner <= most) return undefined;
  return {
    finding: `One partner may have ${queries.underWayPerPartner} of the account's ${activeQueries?.value} active queries: the others wait behind it.`,
    remedy: `Set queries.underWayPerPartner: ${most}.`,
  };
}

function tooFewRequests({ requests }: AccountQuotas, { executions }: StageFacts): Finding | undefined {
  const rates = [...limitsOfRoutes(executions).values()];
  const needed = Math.ceil(rates.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0));
  if (!requests || requests.value >= needed) return undefined;
  return {
    finding: `The stage takes ${needed} requests a second, all of the account's APIs together ${requests.value}.`,
    remedy: raise(QUOTAS.requests, needed, requests.isAdjustable),
  };
}

const raise = ({ service, code, name }: QuotaName, value: number, isAdjustable = true): string =>
  isAdjustable
    ? `aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${code} --desired-value ${value}`
    : `AWS does not raise "${name}" on request: ask its support, or use another account or region.`;

const rate = (value: number): string => String(Number(value.toPrecision(2)));

/** A diagnosis, in lines for a terminal. */
export function describeDiagnosis(limits: readonly Limit[], findings: readonly Finding[]): string[] {
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
