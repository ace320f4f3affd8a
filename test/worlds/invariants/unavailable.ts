/**
 * Rule: nobody gets a 503 who has time left and whose query, slot or publication goes on. What is left for a 503: calls
 * of a first request that AWS refuses to the end, before the caller has a ticket; time that is up; a query that took too
 * long; slots that stayed full; data that kept changing.
 */
import type { AnsweredRequest } from '../caller.ts';
import { statesDuring } from '../modelled-lake.ts';
import { type Parts, type Pull, recordOf, stateOf } from '../parts.ts';
import { BEGINNING } from '../world.ts';
import { REGISTER_MS } from './refusals.ts';

/** A caller's time is known to the service within this much: the ages of objects in S3 are whole seconds. */
const COARSE_MS = 5_000;
/** A caller may wait for its query this many times as long as a query may run: in the queue, running, and a little. */
export const CALLER_LIMITS = 2.05;
/** A caller may wait this much longer for the publication of a large result. */
const PUBLISHING_MS = 900_000;
/** A report is started again three times because files changed during its query. */
const FAILED_BEFORE_REFUSAL = 4;
/** A caller that has waited this many limits has no time for another query. */
export const TOO_LATE_LIMITS = 0.55;

export function unavailableFault(parts: Parts, request: AnsweredRequest): string | undefined {
  const { world, athena } = parts;
  const { answer, pull, answeredAt } = request;
  const { invocation, body } = answer;
  const waitedMs = answeredAt - pull.startedAt;
  // What release 1.0.0 answers can't be mended any more.
  if (invocation.machine.isOfReleaseBefore) return undefined;
  const { longestQueryMs, queriesPerPartner } = world.plan.settings;
  const isTimeUp = waitedMs >= CALLER_LIMITS * longestQueryMs - COARSE_MS;
  if (invocation.line?.['cause'] !== undefined || body.includes('more to do'))
    return isLogged(request) ? (isTimeUp ? undefined : overloadedFault(parts, request)) : 'cause-not-logged';
  if (body.includes('took too long')) {
    if (waitedMs < TOO_LATE_LIMITS * longestQueryMs - COARSE_MS) return 'given-up-early';
    const isOverdue = [...athena.queries.values()].some(
      ({ asked, submittedAt, stopAskedAt, endedAt = answeredAt }) =>
        asked.days.join() === pull.caller.days.join() &&
        (stopAskedAt !== undefined || endedAt - submittedAt >= 0.9 * longestQueryMs),
    );
    if (isPublishedNow(parts, pull) && waitedMs < CALLER_LIMITS * longestQueryMs + PUBLISHING_MS - COARSE_MS)
      return 'given-up-early';
    return isTimeUp || isOverdue ? undefined : 'given-up-early';
  }
  if (body.includes('were under way'))
    return queriesPerPartner > 0 && isTimeUp ? undefined : 'slot-given-up-early';
  if (body.includes('being rewritten')) {
    const failed = [...athena.queries.values()].filter(
      ({ asked, state, toldEndTo }) =>
        state === 'FAILED' &&
        asked.days.join() === pull.caller.days.join() &&
        toldEndTo.some(({ at }) => at >= pull.startedAt - COARSE_MS),
    );
    return failed.length < FAILED_BEFORE_REFUSAL ? 'rewritten-without-cause' : undefined;
  }
  return 'unavailable-without-cause';
}

/** Whether the log names a call of AWS that failed: the operator sees by it who refuses what. */
const isLogged = ({ answer: { invocation } }: AnsweredRequest): boolean => {
  const cause = String(invocation.line?.['cause']);
  return /^(S3|Athena) \w+: \w+, status (\d{3}|none), request /.test(cause);
};

/** Whether the only query for a caller's report has succeeded, and its large result is being published. */
function isPublishedNow({ world, athena, s3, lake, register }: Parts, { caller, startedAt }: Pull): boolean {
  // For other companies, the report is another one.
  if (register.during(caller.partner, startedAt - REGISTER_MS, world.time.now()).length > 1) return false;
  const own = [...athena.queries.values()].filter(({ asked }) => asked.days.join() === caller.days.join());
  const [query] = own;
  // For a caller that saw other data, the report is another one, too.
  const span = { from: (query?.submittedAt ?? startedAt) - COARSE_MS, to: world.time.now() };
  return (
    own.length === 1 &&
    statesDuring(lake.states, span).length === 1 &&
    query?.isLarge === true &&
    s3.objects.has(`publications/${query.id}.json`) &&
    stateOf(recordOf(s3, query.id)) === 'publishing'
  );
}

/** The fault of a 503 because AWS refuses calls, for a caller that has time left. */
function overloadedFault(parts: Parts, { answer, hop, pull, answeredAt }: AnsweredRequest) {
  const { world, athena } = parts;
  const { invocation } = answer;
  if (hop > 0) return 'overloaded-while-waiting';
  const at = answeredAt - BEGINNING;
  const isOut = (key: string) =>
    world.plan.outages.some(
      ({ service, prefix, atMs, lastsMs }) =>
        service === 'S3' && key.startsWith(prefix) && atMs <= at && at <= atMs + lastsMs + COARSE_MS,
    );
  const isTicketRefused =
    isOut('waiting/') || invocation.faults.some(({ key }) => key.startsWith('waiting/'));
  const query = athena.queries.get(String(invocation.line?.['queryExecutionId']));
  const isPublished =
    isPublishedNow(parts, pull) &&
    invocation.faults.every(({ key }) => /^(athena|publications|jobs|reports)\//.test(key));
  const waitsForSlot = invocation.line?.['waitsForShare'] === true;
  if ((isPublished || waitsForSlot || (query && query.endedAt === undefined)) && !isTicketRefused)
    return 'overloaded-while-waiting';
  const isRefused =
    isTicketRefused ||
    world.plan.outages.some(({ service }) => service === 'S3') ||
    invocation.faults.some(({ operation }) => operation.startsWith('S3'));
  // If only Athena fails, S3 can store the ticket. The caller is then sent to the waiting room and gets no 503.
  return isRefused ? undefined : 'overloaded-without-cause';
}
