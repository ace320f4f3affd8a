/** Rule: each answer comes in time and has one of the statuses in `STATUSES`. A refusal or a failure has a cause. */
import type { AnsweredRequest } from '../caller.ts';
import { TIME_LIMIT } from '../modelled-lambda.ts';
import type { Parts } from '../parts.ts';
import { hasFailedWrite } from '../troubles.ts';
import { isOwn, noteDeath, waitingFindings } from './calm.ts';
import { failureFindings } from './failures.ts';
import { executionOf } from './files.ts';
import { type Findings, judge } from './judge.ts';
import { entriesOf, missingFindings, refusedFindings, tooLargeFindings } from './refusals.ts';
import { leavesOverdue } from './stopped.ts';
import { CALLER_LIMITS, unavailableFindings } from './unavailable.ts';

/** The longest time of a first answer: some 8 seconds, a cold start, and the last calls. */
const FIRST_ANSWER_MS = 12_000;
/** The most time by which a fault may delay an answer: the longest try of a call and the pause after it. */
const FAULT_MS = 6_500;
const STATUSES = [303, 400, 401, 404, 500, 503];

export function checkAnswer(parts: Parts, request: AnsweredRequest): void {
  const { id, answer } = request;
  parts.world.count(outcomeOf(request));
  judge(parts.world, findingsOf(parts, request), () => `${id}: ${answer.status} ${detailOf(answer)}`);
}

/** The rules that an answer breaks. Who lacks a right gets a 500, and the operator an alarm: waiting does not help. */
function findingsOf(parts: Parts, request: AnsweredRequest): Findings {
  const { answer, hop, startedAt, answeredAt } = request;
  const { status, headers, invocation, died, threw } = answer;
  const { faults } = invocation;
  if (threw !== undefined) return { 'handler-threw': true };
  // A request that fails between its slot and its query, or hears no answer, leaves them as one that dies does.
  if (died !== undefined || status >= 500 || faults.length > 0) noteDeath(parts, request);
  if (died !== undefined) return { 'reached-time-limit': died === TIME_LIMIT };
  const allowedMs = FIRST_ANSWER_MS + faults.length * FAULT_MS;
  return {
    'handler-threw': false,
    'status-outside-contract': !STATUSES.includes(status),
    'first-answer-late': hop === 0 ? answeredAt - startedAt > allowedMs : undefined,
    'no-location': status === 303 ? !headers['Location'] : undefined,
    'no-retry-after': status === 503 ? !/^[1-9]\d{0,2}$/.test(headers['Retry-After'] ?? '') : undefined,
    'denial-untold': faults.some(({ kind }) => kind === 'denied') ? status !== 500 : undefined,
    'waited-for-gzip': isHeldUpByGzip(request),
    'shared-without-listing': isSharedUnlisted(parts, request),
    'data-changes-without-end': changesTooOften(parts, request),
    'waits-without-end': waitsWithoutEnd(parts, request),
    'lease-kept': hasKeptItsLease(parts, request),
    'stood-still': hasStoodStill(parts, request),
    'not-stopped': faults.length > 0 ? undefined : leavesOverdue(parts, invocation),
    ...(status === 303 && waitingFindings(parts, request)),
    ...causeOf(parts, request),
  };
}

/** The most time from the plain file to the answer: up to one second for the gzipped file, then writes of records. */
const GZIP_MS = 3_000;

const isHeldUpByGzip = ({ answer: { invocation }, answeredAt }: AnsweredRequest): boolean | undefined =>
  invocation.plainFileAt === undefined || invocation.faults.some(({ key }) => !key.endsWith('.gz'))
    ? undefined
    : answeredAt - invocation.plainFileAt > GZIP_MS;

/**
 * Whether an answer reuses a report or an attempt although the lake can't be listed. If S3 does not store a ticket, the
 * next hop does not know which attempt is the caller's own.
 */
const isSharedUnlisted = ({ world }: Parts, { answer, pull }: AnsweredRequest): boolean | undefined =>
  world.plan.settings.isListed || hasFailedWrite(world.troubles, pull.caller.id)
    ? undefined
    : /hit|collapsed/.test(answer.headers['Cache-Status'] ?? '');

/** A caller may start over three times because files changed during a query. So at most four queries may fail. */
const MOST_CHANGES = 4;

/**
 * Whether too many queries of a pull failed because a file vanished. A caller whose companies change begins anew. What a
 * request learnt is lost if S3 refuses to store it in the ticket.
 */
function changesTooOften(parts: Parts, { pull, answeredAt }: AnsweredRequest): boolean | undefined {
  const isMoved = entriesOf(parts, pull, answeredAt).length > 1;
  if (isMoved || hasFailedWrite(parts.world.troubles, pull.caller.id)) return undefined;
  const own = [...parts.athena.queries.values()].filter((query) => isOwn(query, pull));
  const changes = own.filter(
    ({ cause, forgottenAt }) => cause === 'file vanished' && forgottenAt === undefined,
  );
  return changes.length > MOST_CHANGES;
}

/** The time that a caller's last hop and failing calls may add to its wait. */
const LAST_HOP_MS = 60_000;
const PUBLICATION_MS = 900_000;

/** Whether a caller is sent to another waiting hop although the time to queue, run and publish its query is over. */
function waitsWithoutEnd(
  { world }: Parts,
  { answer, pull, answeredAt }: AnsweredRequest,
): boolean | undefined {
  if (answer.status !== 303 || !answer.headers['Location']?.startsWith('/')) return undefined;
  const { longestQueryMs, largeFromDays } = world.plan.settings;
  const publishedMs = Number.isFinite(largeFromDays) ? PUBLICATION_MS : 0;
  return answeredAt - pull.startedAt > CALLER_LIMITS * longestQueryMs + publishedMs + LAST_HOP_MS;
}

/**
 * Whether a request that was answered still holds its lease. It no longer asks Athena, and the lease would keep the
 * next request from asking. A fault of a call to S3 is an excuse: it may use up the time for giving the lease back. One
 * lost answer does not: the next try shows that the write was done.
 */
const hasKeptItsLease = (
  { s3 }: Parts,
  { answer: { invocation }, answeredAt }: AnsweredRequest,
): boolean | undefined =>
  invocation.faults.filter(isOfS3).length > 1 ||
  invocation.faults.some((fault) => isOfS3(fault) && fault.kind !== 'answer lost')
    ? undefined
    : [...invocation.written].some(([key, stored]) => {
        if (!key.startsWith('jobs/') || s3.objects.get(key) !== stored) return false;
        const { leaseMs = 0, state } = stored.document as {
          readonly leaseMs?: number;
          readonly state: string;
        };
        // Who creates an attempt starts its query, or says that it has not, unless Athena's calls take all the time.
        if (state === 'starting' && invocation.faults.every(isOfS3)) return leaseMs > 0;
        // A lease that ends at once keeps nobody from asking.
        return stored.lastModified + leaseMs > answeredAt + LEASE_ERROR_MS;
      });

const isOfS3 = ({ operation }: { readonly operation: string }): boolean => operation.startsWith('S3');

/** A hop that is alone takes the attempt over after its first reads. */
const TAKEN_OVER_MS = 1_000;

/** Whether a waiting hop, with nobody else to wait for, let its query alone at first. */
const hasStoodStill = (
  { world, pulls }: Parts,
  { hop, pull, answer: { invocation } }: AnsweredRequest,
): boolean | undefined =>
  hop > 0 &&
  world.plan.settings.queriesPerPartner === 0 &&
  !Number.isFinite(world.plan.settings.largeFromDays) &&
  pulls.every((each) => each === pull || each.caller.days.join() !== pull.caller.days.join())
    ? (invocation.recordedAt ?? 0) - invocation.startedAt > TAKEN_OVER_MS
    : undefined;

/** The ages of objects in S3 are whole seconds. */
const LEASE_ERROR_MS = 1_000;

function causeOf(parts: Parts, request: AnsweredRequest): Findings {
  switch (request.answer.status) {
    case 400:
      return tooLargeFindings(parts, request);
    case 401:
      return refusedFindings(parts, request);
    case 404:
      return missingFindings(parts, request);
    case 500:
      return failureFindings(parts, request);
    case 503:
      return unavailableFindings(parts, request);
    default:
      return {};
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
