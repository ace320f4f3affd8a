/** Rule: each answer comes in time and has one of the statuses in `STATUSES`. A refusal or a failure has a cause. */
import type { AnsweredRequest } from '../caller.ts';
import { TIME_LIMIT } from '../modelled-lambda.ts';
import type { Parts } from '../parts.ts';
import { hasFailedWrite } from '../troubles.ts';
import { isCalm, noteDeath, waitingFault } from './calm.ts';
import { failureFault } from './failures.ts';
import { executionOf } from './files.ts';
import { missingFault, refusedFault, tooLargeFault } from './refusals.ts';
import { crossings, noteRelease } from './releases.ts';
import { leavesOverdue } from './stopped.ts';
import { unavailableFault } from './unavailable.ts';

/** The longest time of a first answer: some 8 seconds, a cold start, and the last calls. */
const FIRST_ANSWER_MS = 12_000;
/** The most time by which a fault may delay an answer: the longest try of a call and the pause after it. */
const FAULT_MS = 6_500;
const STATUSES = [303, 400, 401, 404, 500, 503];

export function checkAnswer(parts: Parts, request: AnsweredRequest): void {
  const { world } = parts;
  const { id, answer } = request;
  world.count(outcomeOf(request));
  noteRelease(request);
  for (const fault of faultsOf(parts, request))
    if (fault !== undefined) world.violate(fault, `${id}: ${answer.status} ${detailOf(answer)}`);
}

/** The rules that an answer breaks. Who lacks a right gets a 500, and the operator an alarm: waiting does not help. */
function faultsOf(parts: Parts, request: AnsweredRequest): (string | undefined)[] {
  const { answer, hop, pull, startedAt, answeredAt } = request;
  const { status, headers, invocation, died, threw } = answer;
  if (threw !== undefined) return ['handler-threw'];
  // A request that fails between its slot and its query, or hears no answer, leaves them as one that dies does.
  if (died !== undefined || status >= 500 || invocation.faults.length > 0) noteDeath(parts, request);
  if (died !== undefined) return [died === TIME_LIMIT ? 'reached-time-limit' : undefined];
  const allowedMs = FIRST_ANSWER_MS + invocation.faults.length * FAULT_MS;
  return [
    STATUSES.includes(status) ? undefined : 'status-outside-contract',
    hop === 0 && answeredAt - startedAt > allowedMs ? 'first-answer-late' : undefined,
    status === 303 && !headers['Location'] ? 'no-location' : undefined,
    status === 503 && !/^[1-9]\d{0,2}$/.test(headers['Retry-After'] ?? '') ? 'no-retry-after' : undefined,
    isHeldUpByGzip(request) ? 'waited-for-gzip' : undefined,
    isSharedUnlisted(parts, request) ? 'shared-without-listing' : undefined,
    changesSeen(parts, request) > MOST_CHANGES + crossings(pull) ? 'data-changes-without-end' : undefined,
    waitsWithoutEnd(parts, request) ? 'waits-without-end' : undefined,
    hasKeptItsLease(parts, request) ? 'lease-kept' : undefined,
    hasStoodStill(parts, request) ? 'stood-still' : undefined,
    leavesOverdue(parts, invocation) ? 'not-stopped' : undefined,
    invocation.faults.some(({ kind }) => kind === 'denied') && status !== 500 ? 'denial-untold' : undefined,
    waitingFault(parts, request),
    causeFault(parts, request),
  ];
}

/** The most time from the plain file to the answer: up to one second for the gzipped file, then writes of records. */
const GZIP_MS = 3_000;

const isHeldUpByGzip = ({ answer: { invocation }, answeredAt }: AnsweredRequest): boolean =>
  invocation.plainFileAt !== undefined &&
  answeredAt - invocation.plainFileAt > GZIP_MS &&
  invocation.faults.every(({ key }) => key.endsWith('.gz'));

/** Whether an answer reuses a report or an attempt although the lake can't be listed. */
const isSharedUnlisted = ({ world }: Parts, { answer, pull }: AnsweredRequest): boolean =>
  !world.plan.settings.isListed &&
  // If S3 does not store a ticket, the next hop does not know which attempt is the caller's own.
  world.plan.outages.length === 0 &&
  !hasFailedWrite(world.troubles, pull.caller.id) &&
  !answer.invocation.machine.isOfReleaseBefore &&
  crossings(pull) === 0 &&
  /hit|collapsed/.test(answer.headers['Cache-Status'] ?? '');

/** A caller may start over three times because files changed during a query. So at most four queries may fail. */
const MOST_CHANGES = 4;
const changes = new WeakMap<AnsweredRequest['pull'], number[]>();

/**
 * How many queries of a pull failed because a file vanished, without those that Athena has forgotten. If the partner's companies changed during the pull, it is
 * the highest number of such queries for the same companies.
 */
function changesSeen({ athena }: Parts, { pull, answer }: AnsweredRequest): number {
  const seen = changes.get(pull) ?? [];
  // What a request learnt is lost if S3 refuses to store it in the ticket.
  const { faults } = answer.invocation;
  if (faults.some(({ operation, key }) => operation === 'S3 PutObject' && key.startsWith('waiting/')))
    return 0;
  for (const { startedBy, cause, companies, forgottenAt } of athena.queries.values())
    if (startedBy === answer.invocation && cause === 'file vanished' && forgottenAt === undefined)
      seen.push(companies);
  changes.set(pull, seen);
  return Math.max(0, ...seen.map((each) => seen.filter((other) => other === each).length));
}

/** The time that a caller's last hop and failing calls may add to its wait. */
const LAST_HOP_MS = 60_000;
const PUBLICATION_MS = 900_000;

/** Whether a caller is sent to another waiting hop although the time to queue, run and publish its query is over. */
function waitsWithoutEnd({ world }: Parts, { answer, pull, answeredAt }: AnsweredRequest): boolean {
  const { longestQueryMs, largeFromDays } = world.plan.settings;
  const publishedMs = Number.isFinite(largeFromDays) ? PUBLICATION_MS : 0;
  const mostMs = 2.05 * longestQueryMs + publishedMs + LAST_HOP_MS;
  const isLedOn = answer.status === 303 && answer.headers['Location']?.startsWith('/') === true;
  return isLedOn && answeredAt - pull.startedAt > mostMs;
}

/**
 * Whether a request that was answered still holds its lease. It no longer asks Athena, and the lease would keep the
 * next request from asking. A fault of a call to S3 is an excuse: it may use up the time for giving the lease back.
 */
const hasKeptItsLease = ({ s3 }: Parts, { answer: { invocation }, answeredAt }: AnsweredRequest): boolean =>
  invocation.faults.every(({ operation }) => operation.startsWith('Athena')) &&
  [...invocation.written].some(([key, stored]) => {
    if (!key.startsWith('jobs/') || s3.objects.get(key) !== stored) return false;
    const { leaseMs = 0 } = stored.document as { readonly leaseMs?: number };
    // A lease that ends at once keeps nobody from asking.
    return stored.lastModified + leaseMs > answeredAt + LEASE_ERROR_MS;
  });

/** A hop that is alone takes the attempt over after its first reads. */
const TAKEN_OVER_MS = 1_000;

/** Whether a waiting hop, with nobody else to wait for, let its query alone at first. */
const hasStoodStill = (
  { world, pulls }: Parts,
  { hop, pull, answer: { invocation } }: AnsweredRequest,
): boolean =>
  hop > 0 &&
  isCalm(world) &&
  !world.plan.isMixed &&
  world.plan.settings.queriesPerPartner === 0 &&
  !Number.isFinite(world.plan.settings.largeFromDays) &&
  pulls.every((each) => each === pull || each.caller.days.join() !== pull.caller.days.join()) &&
  (invocation.recordedAt ?? 0) - invocation.startedAt > TAKEN_OVER_MS;

/** The ages of objects in S3 are whole seconds. */
const LEASE_ERROR_MS = 1_000;

function causeFault(parts: Parts, request: AnsweredRequest): string | undefined {
  switch (request.answer.status) {
    case 400:
      return tooLargeFault(parts, request);
    case 401:
      return refusedFault(parts, request);
    case 404:
      return missingFault(parts, request);
    case 500:
      return failureFault(parts, request);
    case 503:
      return unavailableFault(parts, request);
    default:
      return undefined;
  }
}

/** Details of an answer, for the person who reads the history. */
function detailOf({ body, invocation, threw }: AnsweredRequest['answer']): string {
  const error = threw ?? invocation.line?.['error'];
  return error === undefined ? body : `${String(error)}, query ${invocation.line?.['queryExecutionId']}`;
}

/** A line for the tally: the status, and what a redirect leads to. */
function outcomeOf({ answer: { status, headers, died, body, invocation }, hop }: AnsweredRequest): string {
  const where = hop === 0 ? 'report' : 'hop';
  if (died) return `${where} killed`;
  const location = headers['Location'];
  if (location) {
    const leads = executionOf(new URL(location, 'https://x').pathname.slice(1)) ? 'file' : 'waiting room';
    return `${where} 303 ${leads}, ${(headers['Cache-Status'] ?? '').replace('PerformanceReports; ', '')}`;
  }
  if (status === 500) return `${where} 500 ${nameOf(invocation.line?.['error'])}`;
  return `${where} ${status} ${/"detail":"([^".]*)/.exec(body)?.[1] ?? ''}`;
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');
