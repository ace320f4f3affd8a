/**
 * Rule: nobody gets a 503 who has time left and whose query, slot or publication goes on. What is left for a 503: calls
 * of a first request that AWS refuses to the end, before the caller has a ticket; time that is up; a query that took too
 * long; slots that stayed full; data that kept changing.
 */
import type { AnsweredRequest } from '../caller.ts';
import type { Parts } from '../parts.ts';
import { BEGINNING } from '../world.ts';

/** A caller's time is known to the service within this much: the ages of objects in S3 are whole seconds. */
const COARSE_MS = 5_000;
/** A caller may wait for its query this many times as long as a query may run: in the queue, running, and a little. */
const CALLER_LIMITS = 2.05;
/** A report is started again three times because files changed during its query. */
const FAILED_BEFORE_REFUSAL = 4;
/** A caller that has waited this many limits has no time for another query. */
const TOO_LATE_LIMITS = 0.55;

export function unavailableFault(parts: Parts, request: AnsweredRequest): string | undefined {
  const { world, athena } = parts;
  const { answer, pull, answeredAt } = request;
  const { invocation, body } = answer;
  const waitedMs = answeredAt - pull.startedAt;
  const { longestQueryMs, queriesPerPartner } = world.plan.settings;
  const isTimeUp = waitedMs >= CALLER_LIMITS * longestQueryMs - COARSE_MS;
  if (invocation.line?.['cause'] !== undefined || body.includes('more to do'))
    return isTimeUp ? undefined : overloadedFault(parts, request);
  if (body.includes('took too long')) {
    if (waitedMs < TOO_LATE_LIMITS * longestQueryMs - COARSE_MS) return 'given-up-early';
    const isOverdue = [...athena.queries.values()].some(
      ({ asked, submittedAt, stopAskedAt, endedAt = answeredAt }) =>
        asked.days.join() === pull.caller.days.join() &&
        (stopAskedAt !== undefined || endedAt - submittedAt >= 0.9 * longestQueryMs),
    );
    return isTimeUp || isOverdue ? undefined : 'given-up-early';
  }
  if (body.includes('were under way'))
    return queriesPerPartner > 0 && isTimeUp ? undefined : 'slot-given-up-early';
  if (body.includes('being rewritten')) {
    const failed = [...athena.queries.values()].filter(
      ({ asked, state, endedAt = 0 }) =>
        state === 'FAILED' &&
        asked.days.join() === pull.caller.days.join() &&
        endedAt >= pull.startedAt - COARSE_MS,
    );
    return failed.length < FAILED_BEFORE_REFUSAL ? 'rewritten-without-cause' : undefined;
  }
  return 'unavailable-without-cause';
}

/** The fault of a 503 because AWS refuses calls, for a caller that has time left. */
function overloadedFault({ world, athena, s3 }: Parts, { answer, hop, pull, answeredAt }: AnsweredRequest) {
  const { invocation } = answer;
  // Release 1.0.0 ends a hop if S3 refuses its ticket, its register entry or its listing.
  if (invocation.machine.isOfReleaseBefore) return undefined;
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
  const isPublished = [...athena.queries.values()].some(
    ({ id, asked, isLarge }) =>
      isLarge &&
      asked.days.join() === pull.caller.days.join() &&
      s3.objects.has(`publications/${id}.json`) &&
      !s3.objects.has(`abandoned/${id}.json`) &&
      invocation.faults.every(({ key }) => /^(athena|publications|abandoned|reports)\//.test(key)),
  );
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
