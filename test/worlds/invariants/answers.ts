/** Each request is answered in its time, with a status of the contract, and a refusal or a failure has a cause. */
import type { AnsweredRequest } from '../caller.ts';
import { statesDuring } from '../modelled-lake.ts';
import { TIME_LIMIT } from '../modelled-lambda.ts';
import { openedBy } from '../modelled-register.ts';
import { executionOf, isNamedHole } from './files.ts';
import type { Parts } from './parts.ts';

/** Some 8 seconds, a cold start, and the last calls. */
const FIRST_ANSWER_MS = 12_000;
/** By how much a fault may delay an answer: the longest try of a call, and the pause after it. */
const FAULT_MS = 6_500;
const REGISTER_MS = 60_000;
const STATUSES = [303, 400, 401, 404, 500, 503];

export function checkAnswer(parts: Parts, request: AnsweredRequest): void {
  const { world } = parts;
  const { answer, hop } = request;
  const { status, headers, invocation, died } = answer;
  const fail = (kind: string, text = '') =>
    world.violate(kind, `${request.id}: ${status} ${text} ${answer.body}`);
  world.count(outcomeOf(request));
  if (answer.threw !== undefined) return fail('handler-threw', String(answer.threw));
  if (died === TIME_LIMIT) return fail('reached-time-limit');
  if (died !== undefined) return;
  if (!STATUSES.includes(status)) fail('status-outside-contract');
  const tookMs = request.answeredAt - request.startedAt;
  const allowedMs = FIRST_ANSWER_MS + invocation.faults.length * FAULT_MS;
  if (hop === 0 && tookMs > allowedMs) fail('first-answer-late', `after ${tookMs} ms`);
  if (status === 303 && !headers['Location']) fail('no-location');
  if (status === 503 && !headers['Retry-After']) fail('no-retry-after');
  switch (status) {
    case 400:
      return checkTooLarge(parts, request, fail);
    case 401:
      return checkRefused(parts, request, fail);
    case 404:
      return checkMissing(parts, request, fail);
    case 500:
      return checkFailure(parts, request, fail);
    case 503:
      return checkUnavailable(parts, request, fail);
  }
}

type Fail = (kind: string, text?: string) => void;

/** For the tally: status, and what a redirect leads to. */
function outcomeOf({ answer: { status, headers, died, body, invocation }, hop }: AnsweredRequest): string {
  const where = hop === 0 ? 'report' : 'hop';
  if (died) return `${where} killed`;
  const location = headers['Location'];
  if (location) {
    const leads = executionOf(new URL(location, 'https://x').pathname.slice(1)) ? 'file' : 'waiting room';
    return `${where} 303 ${leads}, ${(headers['Cache-Status'] ?? '').replace('PerformanceReports; ', '')}`;
  }
  if (status === 500) return `${where} 500 ${errorName(invocation.line?.['error'])}`;
  return `${where} ${status} ${/"detail":"([^".]*)/.exec(body)?.[1] ?? ''}`;
}

const errorName = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');

function checkTooLarge({ world }: Parts, { pull }: AnsweredRequest, fail: Fail): void {
  if (pull.caller.days.length < world.plan.settings.tooManyDays) fail('refused-without-cause');
}

function checkRefused({ register }: Parts, { pull, startedAt, answeredAt }: AnsweredRequest, fail: Fail): void {
  const said = register.during(pull.caller.partner, startedAt - REGISTER_MS, answeredAt);
  if (said.every((entry) => openedBy(entry).length > 0)) fail('unauthorized-without-cause');
}

const hasVanishedUnder = ({ athena }: Parts, { pull, answeredAt }: AnsweredRequest): boolean =>
  [...athena.queries.values()].some(
    ({ cause, endedAt = 0, asked }) =>
      cause === 'file vanished' &&
      endedAt >= pull.startedAt - 60_000 &&
      endedAt <= answeredAt &&
      asked.days.join() === pull.caller.days.join(),
  );

function checkMissing(parts: Parts, request: AnsweredRequest, fail: Fail): void {
  const { world, register, lake } = parts;
  const { pull, startedAt, answeredAt, hop, answer } = request;
  if (answer.body.includes('no-records')) {
    // Where it waited for a slot, the first look at the lake is the one of this request.
    const from = hop > 0 && world.plan.settings.queriesPerPartner > 0 ? startedAt : pull.startedAt;
    // Its companies changed while it waited: the report was begun again by this request.
    if (register.during(pull.caller.partner, pull.startedAt, answeredAt).length > 1) return;
    const [first] = statesDuring(lake.states, { from, to: from });
    // Its query failed since its files were gone: it was begun again, and the table is missing now.
    if (hasVanishedUnder(parts, request)) return;
    if (first && first.files.size > 0 && !isEmptySoon(lake.states, from)) fail('emptied-during-query');
    return;
  }
  if (hop === 0) return fail('missing-without-cause');
  const said = register.during(pull.caller.partner, startedAt - REGISTER_MS, answeredAt);
  const isRefused = said.some((entry) => openedBy(entry).length === 0);
  if (!isRefused) fail('ticket-gone');
}

/** Whether the table became empty while the request began. */
const isEmptySoon = (states: Parts['lake']['states'], from: number): boolean =>
  statesDuring(states, { from, to: from + 1_500 }).some(({ files }) => files.size === 0);

function checkFailure({ athena, world, lake }: Parts, { answer, pull }: AnsweredRequest, fail: Fail): void {
  const { line = {} } = answer.invocation;
  const error = line['error'];
  const name = errorName(error);
  const message = error instanceof Error ? error.message : '';
  const query = athena.queries.get(String(line['queryExecutionId'] ?? /query (q\d+)/.exec(message)?.[1]));
  switch (name) {
    case 'QueryFailed':
      if (query?.cause === 'engine' || query?.isJunk) return;
      if (query?.cause === 'file vanished' && isNamedHole({ lake }, query))
        return world.count('named hole: a query failed by a file that came and went unmarked');
      return fail(query?.cause === 'stopped' ? 'stopped-query-is-500' : 'changed-data-is-500', query?.cause);
    case 'NotEngineCsv':
      return query?.isJunk ? undefined : fail('failed-without-cause', message);
    case 'PublicationFailed':
      if (query?.isLarge && (query.isJunk || world.plan.faults.rate > 0)) return;
      return fail('failed-without-cause', message);
    default:
      if (/^none of \d+ queries/.test(message) && world.troubles.happened.length > 2) return;
      fail('failed-without-cause', `${message} ${(error as Error | undefined)?.stack ?? ''} ${pull.caller.id}`);
  }
}

function checkUnavailable({ world, lake, athena }: Parts, request: AnsweredRequest, fail: Fail): void {
  const { answer, pull, answeredAt } = request;
  const { invocation } = answer;
  const waitedMs = answeredAt - pull.startedAt;
  const { longestQueryMs, queriesPerPartner } = world.plan.settings;
  if (invocation.line?.['cause'] !== undefined || answer.body.includes('more to do'))
    return invocation.faults.length > 0 ? undefined : fail('overloaded-without-cause');
  if (answer.body.includes('took too long')) {
    const isOldQuery = [...athena.queries.values()].some(
      ({ submittedAt, endedAt = answeredAt }) => endedAt - submittedAt > 0.5 * longestQueryMs,
    );
    if (waitedMs < 0.45 * longestQueryMs && !isOldQuery) fail('given-up-early', `after ${waitedMs} ms`);
    return;
  }
  if (answer.body.includes('were under way')) {
    if (queriesPerPartner === 0 || waitedMs < 0.9 * longestQueryMs) fail('slot-given-up-early');
    return;
  }
  if (answer.body.includes('being rewritten')) {
    const changes = lake.states.filter(({ from }) => from >= pull.startedAt - 60_000 && from <= answeredAt);
    if (changes.length < 3) fail('rewritten-without-cause');
    return;
  }
  if (world.troubles.happened.length === 0) fail('unavailable-without-cause');
}
