/**
 * Rule: nobody gets a 503 who has time left and whose query, slot or publication goes on. What is left for a 503: calls
 * of a first request that AWS refuses to the end, before the caller has a ticket; time that is up; a query that took too
 * long; slots that stayed full; data that kept changing.
 */
import type { AnsweredRequest } from '../caller.ts';
import { statesDuring, versionOf } from '../modelled-lake.ts';
import { type Parts, type Pull, recordOf, stateOf } from '../parts.ts';
import { BEGINNING } from '../world.ts';
import type { Findings } from './judge.ts';
import { entriesOf } from './refusals.ts';

/** A caller's time is known to the service within this much: the ages of objects in S3 are whole seconds. */
const COARSE_MS = 5_000;
/** A caller may wait for its query this many times as long as a query may run: in the queue, running, and a little. */
export const CALLER_LIMITS = 2.05;
/** A caller may wait this much longer for the publication of a large result. */
const PUBLISHING_MS = 900_000;
/** A report is started again three times because files changed during its query. */
const FAILED_BEFORE_REFUSAL = 4;
/** The service gives up after so many queries that follow each other without a result, whoever waits for them. */
export const MOST_QUERIES = 6;
/** A caller that has waited this many limits has no time for another query. */
export const TOO_LATE_LIMITS = 0.55;

export function unavailableFindings(parts: Parts, request: AnsweredRequest): Findings {
  const { world, athena } = parts;
  const { answer, pull, answeredAt } = request;
  const { invocation, body } = answer;
  if (invocation.machine.isOfReleaseBefore) return {};
  const waitedMs = answeredAt - pull.startedAt;
  const { longestQueryMs, queriesPerPartner } = world.plan.settings;
  const isTimeUp = waitedMs >= CALLER_LIMITS * longestQueryMs - COARSE_MS;
  const own = [...athena.queries.values()].filter(
    ({ report }) => report.days.join() === pull.caller.days.join(),
  );
  if (invocation.line?.['cause'] !== undefined || body.includes('more to do'))
    return { 'cause-not-logged': !isLogged(request), ...(!isTimeUp && overloadFindings(parts, request)) };
  if (body.includes('took too long')) {
    const isOverdue = own.some(
      ({ submittedAt, stopAskedAt, endedAt = answeredAt }) =>
        stopAskedAt !== undefined || endedAt - submittedAt >= 0.9 * longestQueryMs,
    );
    const isForAnother =
      isPublishedNow(parts, pull) && waitedMs < CALLER_LIMITS * longestQueryMs + PUBLISHING_MS - COARSE_MS;
    const isSoon = waitedMs < TOO_LATE_LIMITS * longestQueryMs - COARSE_MS && own.length < MOST_QUERIES;
    return { 'given-up-early': isSoon || isForAnother || !(isTimeUp || isOverdue) };
  }
  if (body.includes('were under way')) return { 'slot-given-up-early': queriesPerPartner === 0 || !isTimeUp };
  const isRewritten = body.includes('being rewritten');
  const failed = own.filter(({ cause }) => cause !== undefined && cause !== 'stopped');
  const since = failed.filter(({ toldEndTo }) =>
    toldEndTo.some(({ at }) => at >= pull.startedAt - COARSE_MS),
  );
  // A hop may go back to the listing of a query that failed, because it is kept or because the lake is as it was then. If
  // the start of the next query fails, the hop after it counts that failure once more.
  const comesBack = since.some(({ submittedAt }) => {
    const span = { from: submittedAt, to: answeredAt };
    const versions = statesDuring(parts.lake.states, span).map((each) => versionOf(each, pull.caller.days));
    const changed = versions.findIndex((each) => each !== versions[0]);
    return changed > 0 && versions.includes(versions[0] ?? '', changed);
  });
  const twice = world.plan.settings.listingSeconds > 0 || comesBack ? 1 : 0;
  const isCaused = since.length + twice >= FAILED_BEFORE_REFUSAL || failed.length >= MOST_QUERIES;
  return {
    'unavailable-without-cause': !isRewritten,
    // Who can't list the lake can't know that it changes.
    'rewritten-without-cause': isRewritten ? !isCaused || !world.plan.settings.isListed : undefined,
  };
}

/** Whether the log names a call of AWS that failed: the operator sees by it who refuses what. */
const isLogged = ({ answer: { invocation } }: AnsweredRequest): boolean => {
  const cause = String(invocation.line?.['cause']);
  return /^(S3|Athena) \w+: \w+, status (\d{3}|none), request /.test(cause);
};

/** Whether the only query for a caller's report has succeeded, and its large result is being published. */
function isPublishedNow(parts: Parts, pull: Pull): boolean {
  const { world, athena, s3, lake } = parts;
  const { caller, startedAt } = pull;
  // For other companies, the report is another one.
  if (entriesOf(parts, pull, world.time.now()).length > 1) return false;
  const own = [...athena.queries.values()].filter(({ report }) => report.days.join() === caller.days.join());
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

/** What a 503 shows that is given because AWS refuses calls, for a caller that has time left. */
function overloadFindings(parts: Parts, { answer, hop, pull, answeredAt }: AnsweredRequest): Findings {
  const { world, athena } = parts;
  const { faults, line } = answer.invocation;
  const at = answeredAt - BEGINNING;
  const ofS3 = world.plan.outages.filter(({ service }) => service === 'S3');
  const isTicketRefused =
    faults.some(({ key }) => key.startsWith('waiting/')) ||
    ofS3.some(
      ({ prefix, atMs, lastsMs }) =>
        'waiting/'.startsWith(prefix) && atMs <= at && at <= atMs + lastsMs + COARSE_MS,
    );
  const query = athena.queries.get(String(line?.['queryExecutionId']));
  // Who could never read the record does not know that anybody publishes.
  const isPublished =
    line?.['queryExecutionId'] !== undefined &&
    isPublishedNow(parts, pull) &&
    faults.every(({ key }) => /^(athena|publications|jobs|reports)\//.test(key));
  const waits = isPublished || line?.['waitsForShare'] === true || (query && query.endedAt === undefined);
  // If only Athena fails, S3 can store the ticket. The caller is then sent to the waiting room and gets no 503.
  const isRefused = ofS3.length > 0 || faults.some(({ operation }) => operation.startsWith('S3'));
  return {
    'overloaded-while-waiting': hop > 0 || (waits && !isTicketRefused),
    'overloaded-without-cause': !isTicketRefused && !isRefused,
  };
}
