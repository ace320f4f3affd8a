/** Rule: a 500 has a cause: a query or publication that failed, or a result that is not the engine's CSV. */
import type { AnsweredRequest } from '../caller.ts';
import type { EngineQuery } from '../modelled-athena.ts';
import { maskOf } from '../modelled-lake.ts';
import { openedBy } from '../modelled-register.ts';
import { type Parts, recordOf, stateOf } from '../parts.ts';
import { REGISTER_MS } from './refusals.ts';
import { isNamedHole } from './versions.ts';

/** A time may be wrong by this much: Athena gives the end of a query in whole seconds, and S3 the age of a ticket. */
const COARSE_MS = 3_000;
/** Failing calls may delay the write that records a failure by this much. */
const HELD_UP_MS = 10_000;

export function failureFault(parts: Parts, { answer, pull, hop }: AnsweredRequest): string | undefined {
  const { athena, world } = parts;
  const { line = {} } = answer.invocation;
  const error = line['error'];
  const [name, message] = error instanceof Error ? [error.name, error.message] : ['', ''];
  const id = line['queryExecutionId'] ?? /query (q\d+)/.exec(message)?.[1];
  const query = athena.queries.get(String(id));
  switch (name) {
    case 'QueryFailed':
      if (query && isOfOthers(parts, query, pull)) return 'failure-of-others';
      return queryFault(parts, query);
    case 'NotEngineCsv':
      return query?.isJunk ? undefined : 'failed-without-cause';
    case 'PublicationFailed': {
      const ended = recordOf(parts.s3, query?.id);
      const toldAt = stateOf(ended) === 'failed' ? ended?.lastModified : undefined;
      if (hop === 0 && toldAt !== undefined && toldAt < pull.startedAt - COARSE_MS)
        return 'failure-of-others';
      // The result may expire while it is published.
      const isGone = !parts.s3.objects.has(`athena/${query?.id}.csv`);
      const mayFail = query?.isJunk || isGone || world.plan.faults.rate > 0 || world.plan.outages.length > 0;
      return query?.isLarge && mayFail ? undefined : 'failed-without-cause';
    }
    default: {
      if (answer.invocation.faults.some(({ kind }) => kind === 'denied')) return undefined;
      const isSaid = /^none of \d+ queries/.test(message) && world.troubles.happened.length > 2;
      return isSaid ? undefined : 'failed-without-cause';
    }
  }
}

/**
 * Whether a query ended before the caller came, or before the register gave it the companies that the query is for. Such
 * a failure is the answer for earlier callers.
 */
function isOfOthers(
  { world, register }: Parts,
  { endedAt = Number.POSITIVE_INFINITY, companies, forgottenAt }: EngineQuery,
  { caller, startedAt }: AnsweredRequest['pull'],
): boolean {
  const entitled = register
    .during(caller.partner, startedAt - REGISTER_MS, world.time.now())
    .find(({ entry }) => maskOf(openedBy(entry)) === companies);
  const cameAt = Math.max(startedAt, entitled?.from ?? 0);
  const isHeldUp =
    world.plan.outages.length > 0 || world.troubles.happened.some((each) => each.includes('PutObject'));
  // Nobody can know when a query ended that Athena has forgotten: it counts as lost when that is seen.
  if (forgottenAt !== undefined) return false;
  return endedAt < cameAt - COARSE_MS - (isHeldUp ? HELD_UP_MS : 0);
}

function queryFault({ athena, lake, world }: Parts, query: EngineQuery | undefined): string | undefined {
  // A result that is not the engine's CSV is recorded as a failed query, and so is the sixth one that is gone.
  if (query?.isJunk || (query && isWornOut(athena, query))) return undefined;
  switch (query?.cause) {
    case 'engine':
      return isFirstFailure(athena, query) ? 'not-tried-again' : undefined;
    case 'stopped':
      // Release 1.0.0 does not say in the record that a query is stopped.
      return [query.stoppedBy, ...query.recordedBy].some((by) => by?.machine.isOfReleaseBefore)
        ? undefined
        : 'stopped-query-is-500';
    case 'file vanished':
      // If the lake can't be listed, no request can know that the data changed.
      if (!world.plan.settings.isListed) return undefined;
      if (!isNamedHole({ lake, world }, query)) return 'changed-data-is-500';
      world.count('named hole: a query failed by a file that came and went unmarked');
      return undefined;
    default:
      return 'failed-without-cause';
  }
}

/** The service gives up after so many queries without a result that it could read. */
const MOST_QUERIES = 6;

const isWornOut = ({ queries }: Parts['athena'], { isGone, forgottenAt, ...query }: EngineQuery): boolean =>
  (isGone || forgottenAt !== undefined) &&
  [...queries.values()].filter(
    ({ number, asked, companies }) =>
      number <= query.number && asked.days === query.asked.days && companies === query.companies,
  ).length >= MOST_QUERIES;

/** Whether the engine called the failure retryable, and no earlier query for the same rows had failed. */
const isFirstFailure = ({ queries }: Parts['athena'], query: EngineQuery): boolean =>
  query.isRetryable === true &&
  ![...queries.values()].some(
    (each) =>
      each !== query &&
      each.asked.days === query.asked.days &&
      each.companies === query.companies &&
      each.submittedAt < query.submittedAt &&
      each.cause !== undefined,
  );
