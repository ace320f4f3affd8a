import { setTimeout as delay } from 'node:timers/promises';
import { begun } from '../begun.ts';
import { type DataState, readDataState } from '../lake/data-version.ts';
import { Overloaded, ReportTooLarge } from '../problems/problem.ts';
import { AGE_ERROR_MS, leaseLeftMs, type RecordIn, readRecord } from '../results/job-record.ts';
import { gzippedKey, jobRecordKey, reportKey, slotsKey } from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import { takeSlot } from '../results/slots.ts';
import type { Progress } from '../results/ticket.ts';
import { type Decision, decide } from './decide.ts';
import {
  type Delivery,
  dataKeepChanging,
  noSlotInTime,
  PublicationFailed,
  QueryFailed,
  type Run,
  tookTooLong,
} from './delivery.ts';
import { hasTimeForAnother } from './execution.ts';
import { requestPublication } from './files.ts';
import { type Job, makeJob } from './job.ts';
import { endFacts, type Leading, leadAttempt } from './lead.ts';
import { nextFileLookMs, nextRecordLookMs, nextSlotLookMs } from './pace.ts';
import { watchRecord } from './watch.ts';

/** How many times a report is started again because files changed during its query. */
const MAX_DATA_CHANGES = 3;

/** The longest random pause of a waiting request after the lease has ended, before it takes the attempt over. */
const TAKE_OVER_MS = 1_000;

/** What a request knows of its caller's wait. It changes as the request goes on. */
interface Wait {
  /** The job that the caller wants, for the data as they were listed last. */
  job: Job;
  /** The job's record, as it was read or written last. */
  stored: StoredDocument | undefined;
  /** Whether the caller has waited for an attempt. */
  hasWaited: boolean;
  /** Token of the last attempt that was created for this caller. */
  own: string | undefined;
  waitsForSlot: boolean;
  dataChanges: number;
  /** ETag of the record that was stored when the lake was listed again; `none` if there was none. */
  listedAfter?: string;
  /** The client's slots, read beside the record. */
  slots: Promise<StoredDocument | undefined> | undefined;
}

/**
 * Gets a report ready, if possible by the time at which the request must be answered (docs/contract.md#the-redirect):
 * reads the job's record, does what `decide` says, and reads the record again. Throws NoRecords, ReportTooLarge,
 * Unavailable, QueryFailed or PublicationFailed.
 *
 * @param data the state of the data to report on: the state that the awaited attempt reads, or the lake's state now
 * @param left the progress that the caller's previous request stored, if there was one
 */
export async function deliverReport(run: Run, data: DataState, left?: Progress): Promise<Delivery> {
  const { wanted, terms } = run;
  const hasSlots = terms.queriesPerPartner !== undefined && left?.waitsFor !== 'attempt';
  const wait: Wait = {
    job: makeJob(wanted.request, wanted.entitlement, data),
    stored: undefined,
    hasWaited: left?.cacheStatus !== undefined,
    own: left?.attempt,
    waitsForSlot: left?.waitsFor === 'slot',
    dataChanges: left?.dataChanges ?? 0,
    slots: hasSlots ? begun(run.backends.results.read(slotsKey(wanted.client))) : undefined,
  };
  try {
    await readJob(run, wait);
    for (;;) {
      const answer = await nextStep(run, wait);
      if (answer) return answer;
    }
  } catch (error) {
    // AWS throttles this request, and its caller has time left. The caller goes on waiting: meanwhile the query or the
    // publication continues, or a slot becomes free.
    const waits = wait.hasWaited || wait.waitsForSlot;
    if (error instanceof Overloaded && waits && Date.now() < terms.publishUntil) return waiting(wait);
    throw error;
  }
}

/** Does what the record asks for. Resolves to the answer; to undefined if the record must be looked at again. */
async function nextStep(run: Run, wait: Wait): Promise<Delivery | undefined> {
  const { terms, note } = run;
  const { job, stored } = wait;
  const ageMs = stored?.ageMs ?? 0;
  const decision = decide(readRecord(stored), ageMs, {
    fingerprint: job.data.fingerprint,
    hasListed: hasListed(wait),
    waitedMs: wait.hasWaited ? Date.now() - terms.askedAt : undefined,
    own: wait.own,
    hasTimeForAnother: hasTimeForAnother(terms.giveUpAt - Date.now(), terms),
    acceptsGzip: terms.acceptsGzip,
    scanLimit: terms.scanLimit,
  });
  note({ job: job.id });
  if ('record' in decision && 'executionId' in decision.record)
    note({ queryExecutionId: decision.record.executionId });
  const isTimeUp = Date.now() >= terms.giveUpAt;
  const mustAnswer = Date.now() >= terms.waitUntil;
  switch (decision.next) {
    case 'deliver':
      return ready(run, wait, decision);
    case 'refuse':
      throw refusalOf(run, decision.record);
    case 'list-again':
      return listAgain(run, wait);
    case 'wait': {
      const { record } = decision;
      startsWaiting(wait);
      if (isTimeUp) throw tookTooLong();
      if (mustAnswer) return waiting(wait);
      const queryMs = ageMs + (record.state === 'under-way' ? record.elapsedMs : 0);
      // A random pause, so that waiting requests don't all take over at the same time.
      const leaseEnd = Date.now() + leaseLeftMs(record, ageMs) + Math.random() * TAKE_OVER_MS;
      const until = Math.min(leaseEnd, terms.waitUntil, terms.giveUpAt);
      wait.stored = await watchRecord(run, job, stored, until, (waitedMs, tookMs) =>
        nextRecordLookMs(queryMs + waitedMs, tookMs, Math.random()),
      );
      return undefined;
    }
    case 'publish':
      startsWaiting(wait);
      wait.stored = await requestPublication(run, job, decision.record);
      if (wait.stored?.etag === stored?.etag)
        wait.stored = await watchRecord(run, job, stored, terms.waitUntil, nextFileLookMs);
      if (wait.stored?.etag !== stored?.etag) return undefined;
      if (Date.now() >= terms.publishUntil) throw tookTooLong();
      return waiting(wait);
    case 'take-over':
      startsWaiting(wait);
      // No query is started for a caller whose time is up. One that is under way is asked about once more.
      if (isTimeUp && decision.record.state === 'starting') throw tookTooLong();
      // This request has no time left to ask Athena. Its lease would only block others, which may have time.
      if (mustAnswer && !isTimeUp) return waiting(wait);
      return decision.record.state === 'under-way'
        ? lead(run, wait, decision)
        : withSlot(run, wait, decision);
    case 'start':
      if (isTimeUp) throw wait.waitsForSlot ? noSlotInTime() : tookTooLong();
      return withSlot(run, wait, decision);
  }
}

/** Whether the lake was listed after the record was written, or can't be listed. */
function hasListed({ job: { data }, stored, listedAfter }: Wait): boolean {
  if (!data.isListed || listedAfter === (stored?.etag ?? 'none')) return true;
  // A hop that waits for a slot has listed the lake before it reads the record, perhaps long after the record's write.
  const listedForMs = Date.now() - (data.listedAt ?? Number.NaN);
  return stored !== undefined && listedForMs >= 0 && listedForMs < stored.ageMs - AGE_ERROR_MS;
}

async function readJob({ backends: { results } }: Run, wait: Wait): Promise<void> {
  wait.stored = await results.read(jobRecordKey(wait.job));
}

function startsWaiting(wait: Wait): void {
  wait.hasWaited = true;
  wait.waitsForSlot = false;
}

/** For release 1.0.0: the caller's attempt is none of its own, and its failures may be of others. */
const HAS_WAITED = { cacheStatus: 'collapsed' } as const;

/** The answer that leads the caller to the waiting room. */
function waiting({ job, hasWaited, own, waitsForSlot, dataChanges }: Wait): Delivery {
  const cacheStatus = hasWaited && !waitsForSlot && own === undefined ? 'collapsed' : 'miss';
  const every = { dataChanges, ...(own !== undefined && { attempt: own }) };
  // `listedAt` is by this machine's clock, so another machine can't use it.
  const { listedAt: _, ...data } = job.data;
  const progress: Progress = waitsForSlot
    ? { waitsFor: 'slot', ...every, ...(hasWaited && HAS_WAITED) }
    : { waitsFor: 'attempt', ...every, data, ...HAS_WAITED };
  return { state: 'waiting', progress, cacheStatus };
}

/** Lists the lake again. If its files have changed, the request goes on with another job or another listing. */
async function listAgain(run: Run, wait: Wait): Promise<undefined> {
  const { request, entitlement } = run.wanted;
  const record = readRecord(wait.stored);
  const data = await readDataState(run.backends.lake, request, 0);
  // A change is counted once: after it, the request goes by another listing than the failed attempt. If this listing
  // fails, the next request lists again and counts the change.
  const isOfAttempt = record?.fingerprint === wait.job.data.fingerprint;
  if (isOfAttempt && record.state === 'failed' && record.why === 'data-changed') wait.dataChanges += 1;
  if (wait.dataChanges > MAX_DATA_CHANGES) throw dataKeepChanging();
  const { id } = wait.job;
  wait.job = makeJob(request, entitlement, data);
  if (wait.job.id !== id) await readJob(run, wait);
  wait.listedAfter = wait.stored?.etag ?? 'none';
}

/** Takes a slot for the job's next query, if clients have a limited number, and then starts the query. */
async function withSlot(run: Run, wait: Wait, decision: Leading): Promise<Delivery | undefined> {
  const { terms, backends, wanted } = run;
  const { queriesPerPartner: count, longestQueueMs, longestQueryMs, waitUntil, giveUpAt } = terms;
  if (count === undefined) return lead(run, wait, decision);
  const limits = { count, longestMs: longestQueueMs + longestQueryMs, until: waitUntil };
  const record = { key: jobRecordKey(wait.job), latest: readRecord(wait.stored) };
  // Only a request's first look asks Athena: waiting callers look for a free slot every second or two.
  const ask = wait.slots && ((id: string) => hasEnded(run, id));
  const slot = await takeSlot(backends.results, wanted.client, record, limits, wait.slots, ask);
  wait.slots = undefined;
  const leftMs = giveUpAt - Date.now();
  if (slot !== undefined) {
    if (leftMs <= 0) throw tookTooLong();
    return lead(run, wait, decision, slot);
  }
  run.note({ waitsForShare: true });
  wait.waitsForSlot = true;
  if (leftMs <= 0) throw noSlotInTime();
  if (Date.now() >= waitUntil) return waiting(wait);
  await delay(Math.min(nextSlotLookMs(leftMs, Math.random()), leftMs, waitUntil - Date.now()));
  await readJob(run, wait);
  return undefined;
}

async function hasEnded({ backends: { queries } }: Run, executionId: string): Promise<boolean> {
  try {
    return (await queries.get(executionId)).state !== 'under-way';
  } catch (error) {
    // The caller waits for the slot as if the query went on.
    if (error instanceof Overloaded) return false;
    throw error;
  }
}

async function lead(run: Run, wait: Wait, decision: Leading, slot?: string): Promise<Delivery | undefined> {
  const outcome = await leadAttempt(run, wait.job, wait.stored, decision, slot, (token) => {
    startsWaiting(wait);
    if (decision.next === 'start') wait.own = token;
  });
  if (outcome === 'time-is-up') {
    if (Date.now() >= run.terms.giveUpAt) throw tookTooLong();
    return waiting(wait);
  }
  if (outcome) wait.stored = outcome;
  else await readJob(run, wait);
  return undefined;
}

/** The answer with a report. */
function ready(
  { note }: Run,
  { job: { data, fileName } }: Wait,
  { record, encoding, cacheStatus }: Extract<Decision, { next: 'deliver' }>,
): Delivery {
  const { executionId, isOfVersion, files, rows } = record;
  const plain = reportKey(executionId, fileName);
  const dataVersion = isOfVersion ? { dataVersion: data.version } : {};
  note(dataVersion);
  const key = encoding === 'gzip' ? gzippedKey(plain) : plain;
  const empty = rows === 0 && data.whyEmpty ? { whyEmpty: data.whyEmpty } : {};
  return { state: 'ready', key, bytes: files[encoding] ?? 0, cacheStatus, ...dataVersion, ...empty };
}

/** The error that the caller gets for an attempt that left no report. */
function refusalOf({ note }: Run, record: RecordIn<'failed'>): Error {
  const { executionId, why, reason } = record;
  note(endFacts(record));
  if (why === 'too-large') return new ReportTooLarge();
  if (why === 'too-long') return tookTooLong();
  if (why === 'data-changed') return dataKeepChanging();
  if (why === 'unpublished') return new PublicationFailed(`the result of query ${executionId} ${reason}`);
  return new QueryFailed(`query ${executionId} ${reason}`);
}
