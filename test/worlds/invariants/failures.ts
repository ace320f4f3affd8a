/** Rule: a 500 has a cause: a query or publication that failed, or a result that is not the engine's CSV. */
import type { AnsweredRequest } from '../caller.ts';
import type { Invocation } from '../invocation.ts';
import type { EngineQuery } from '../modelled-athena.ts';
import { maskOf } from '../modelled-lake.ts';
import { openedBy } from '../modelled-register.ts';
import { type Parts, recordOf, stateOf } from '../parts.ts';
import type { Findings } from './judge.ts';
import { entriesOf } from './refusals.ts';
import { MOST_QUERIES } from './unavailable.ts';
import { isNamedHole } from './versions.ts';

/** A time may be wrong by this much: Athena gives the end of a query in whole seconds, and S3 the age of a ticket. */
const COARSE_MS = 3_000;
/** Failing calls may delay the write that records a failure by this much. */
const HELD_UP_MS = 10_000;

export function failureFindings(parts: Parts, { answer, pull, hop }: AnsweredRequest): Findings {
  const { athena, world, s3 } = parts;
  const { line = {}, faults, machine } = answer.invocation;
  const error = line['error'];
  const [name, message] = error instanceof Error ? [error.name, error.message] : ['', ''];
  const id = line['queryExecutionId'] ?? /query (q\d+)/.exec(message)?.[1];
  const query = athena.queries.get(String(id));
  switch (name) {
    case 'QueryFailed':
      return {
        ...queryFindings(parts, query),
        // Release 1.0.0 counts the time of a slow read of the ticket twice, so its caller seems to have come earlier.
        'failure-of-others': machine.isOfReleaseBefore ? undefined : query && isOfOthers(parts, query, pull),
      };
    case 'NotEngineCsv':
      return { 'failed-without-cause': !query?.isJunk };
    case 'PublicationFailed': {
      const ended = recordOf(s3, query?.id);
      const toldAt = stateOf(ended) === 'failed' ? ended?.lastModified : undefined;
      // The result may expire while it is published.
      const isGone = !s3.objects.has(`athena/${query?.id}.csv`);
      const { faults, outages } = world.plan;
      const mayFail = query?.isJunk || isGone || faults.rate > 0 || outages.length > 0;
      return {
        'failure-of-others': hop === 0 && toldAt !== undefined && toldAt < pull.startedAt - COARSE_MS,
        'failed-without-cause': !query?.isLarge || !mayFail,
      };
    }
    default:
      // Release 1.0.0 gives up after six queries without a result by an error without a name.
      return {
        'failed-without-cause': !machine.isOfReleaseBefore && faults.every(({ kind }) => kind !== 'denied'),
      };
  }
}

/**
 * Whether a query ended before the caller came, or before the register gave it the companies that the query is for. Such
 * a failure is the answer for earlier callers.
 */
function isOfOthers(
  parts: Parts,
  { endedAt = Number.POSITIVE_INFINITY, companies, forgottenAt }: EngineQuery,
  pull: AnsweredRequest['pull'],
): boolean {
  const { time, troubles } = parts.world;
  const entitled = entriesOf(parts, pull, time.now()).find(
    ({ entry }) => maskOf(openedBy(entry)) === companies,
  );
  const cameAt = Math.max(pull.startedAt, entitled?.from ?? 0);
  const isHeldUp =
    troubles.kinds.has('outage') || troubles.happened.some((each) => each.endsWith('PutObject'));
  // Nobody can know when a query ended that Athena has forgotten: it counts as lost when that is seen.
  if (forgottenAt !== undefined) return false;
  return endedAt < cameAt - COARSE_MS - (isHeldUp ? HELD_UP_MS : 0);
}

function queryFindings(parts: Parts, query: EngineQuery | undefined): Findings {
  const { athena, world } = parts;
  // A result that is not the engine's CSV is recorded as a failed query, and so is the sixth one that is gone.
  if (query?.isJunk || (query && isWornOut(athena, query))) return {};
  const cause = query?.cause;
  const isHole = query && cause === 'file vanished' && isNamedHole(parts, query);
  if (isHole) world.count('named hole: a query failed by a file that came and went unmarked');
  return {
    'failed-without-cause': cause === undefined || cause === 'scan limit',
    'not-tried-again': query && cause === 'engine' ? isFirstFailure(parts, query) : undefined,
    // Release 1.0.0 does not say in the record that a query is stopped.
    'stopped-query-is-500': [query?.stoppedBy, ...(query?.recordedBy ?? [])].some(isOfBefore)
      ? undefined
      : cause === 'stopped',
    'changed-data-is-500': cause === 'file vanished' && !isHole,
  };
}

const isOfBefore = (by: Invocation | undefined): boolean => by?.machine.isOfReleaseBefore === true;

const isWornOut = ({ queries }: Parts['athena'], { isGone, forgottenAt, ...query }: EngineQuery): boolean =>
  (isGone || forgottenAt !== undefined) &&
  [...queries.values()].filter(
    ({ number, report, companies }) =>
      number <= query.number && report.days === query.report.days && companies === query.companies,
  ).length >= MOST_QUERIES;

/** Whether it is retryable, and no query for the same rows failed, or was seen to, in the two hours before. */
const isFirstFailure = ({ athena, world }: Parts, query: EngineQuery): boolean =>
  query.isRetryable === true &&
  ![...athena.queries.values()].some(
    (each) =>
      each !== query &&
      each.report.days === query.report.days &&
      each.companies === query.companies &&
      each.submittedAt < query.submittedAt &&
      (world.plan.isMixed ||
        [each.endedAt ?? 0, ...each.toldEndTo.map(({ at }) => at)].some(
          (at) => query.submittedAt - at < 7_200_000,
        )) &&
      each.cause !== undefined,
  );
