import { setTimeout as delay } from 'node:timers/promises';
import { begun } from '../begun.ts';
import { type DataState, readDataState } from '../lake/data-version.ts';
import { Overloaded, ReportTooLarge } from '../problems/problem.ts';
import { AGE_ERROR_MS, type RecordIn, readRecord } from '../results/job-record.ts';
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
  type Target,
  tookTooLong,
} from './delivery.ts';
import { hasTimeForAnother } from './execution.ts';
import { awaitPublication } from './files.ts';
import { makeJob } from './job.ts';
import { endFacts, leadAttempt } from './lead.ts';
import { nextSlotLookMs } from './pace.ts';
import { watchRecord } from './watch.ts';

/** How many times a report is started again because files changed during its query. */
const MAX_DATA_CHANGES = 3;

/** What a request knows of its caller's wait. It changes as the request goes on. */
interface Wait {
  target: Target;
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
  const { results } = run.backends;
  const hasSlots = terms.queriesPerPartner !== undefined && left?.waitsFor !== 'attempt';
  const wait: Wait = {
    target: targetOf(run, data),
    stored: undefined,
    hasWaited: left?.cacheStatus !== undefined,
    own: left?.attempt,
    waitsForSlot: left?.waitsFor === 'slot',
    dataChanges: left?.dataChanges ?? 0,
    slots: hasSlots ? begun(results.read(slotsKey(wanted.client))) : undefined,
  };
  try {
    wait.stored = await readJob(run, wait);
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
  const { target, stored } = wait;
  const decision = decide(readRecord(stored), stored?.ageMs ?? 0, {
    fingerprint: target.data.fingerprint,
    hasListed: hasListed(wait),
    waitedMs: wait.hasWaited ? Date.now() - terms.askedAt : undefined,
    own: wait.own,
    hasTimeForAnother: hasTimeForAnother({ ...terms, callerLeftMs: terms.giveUpAt - Date.now() }),
    acceptsGzip: terms.acceptsGzip,
    scanLimit: terms.scanLimit,
  });
  note({ job: target.job.id });
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
    case 'wait':
      startsWaiting(wait);
      if (isTimeUp) throw tookTooLong();
      if (mustAnswer || !stored) return waiting(wait);
      wait.stored = await watchRecord(run, target, stored, decision.record);
      return undefined;
    case 'publish':
      startsWaiting(wait);
      wait.stored = await awaitPublication(run, target, stored, decision.record);
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

const targetOf = ({ wanted: { request, entitlement } }: Run, data: DataState): Target => ({
  data,
  job: makeJob(request, entitlement, data),
});

/** Whether the lake was listed after the record was written, or can't be listed. */
function hasListed({ target: { data }, stored, listedAfter }: Wait): boolean {
  if (!data.isListed || listedAfter === (stored?.etag ?? 'none')) return true;
  // A hop that waits for a slot has listed the lake before it reads the record, perhaps long after the record's write.
  const listedForMs = Date.now() - (data.listedAt ?? Number.NaN);
  return stored !== undefined && listedForMs >= 0 && listedForMs < stored.ageMs - AGE_ERROR_MS;
}

const readJob = ({ backends: { results } }: Run, { target: { job } }: Wait) =>
  results.read(jobRecordKey(job));

function startsWaiting(wait: Wait): void {
  wait.hasWaited = true;
  wait.waitsForSlot = false;
}

/** For release 1.0.0: the caller's attempt is none of its own, and its failures may be of others. */
const HAS_WAITED = { cacheStatus: 'collapsed' } as const;

/** The answer that leads the caller to the waiting room. */
function waiting({ target, hasWaited, own, waitsForSlot, dataChanges }: Wait): Delivery {
  const cacheStatus = hasWaited && !waitsForSlot && own === undefined ? 'collapsed' : 'miss';
  const every = { dataChanges, ...(own !== undefined && { attempt: own }) };
  // `listedAt` is by this machine's clock, so another machine can't use it.
  const { listedAt: _, ...data } = target.data;
  const progress: Progress = waitsForSlot
    ? { waitsFor: 'slot', ...every, ...(hasWaited && HAS_WAITED) }
    : { waitsFor: 'attempt', ...every, data, ...HAS_WAITED };
  return { state: 'waiting', progress, cacheStatus };
}

/** Lists the lake again. If its files have changed, the request goes on with another job or another listing. */
async function listAgain(run: Run, wait: Wait): Promise<undefined> {
  const { target, stored } = wait;
  const record = readRecord(stored);
  if (record?.state === 'failed' && record.why === 'data-changed') wait.dataChanges += 1;
  const data = await readDataState(run.backends.lake, run.wanted.request, 0);
  if (wait.dataChanges > MAX_DATA_CHANGES) throw dataKeepChanging();
  wait.target = targetOf(run, data);
  if (wait.target.job.id !== target.job.id) wait.stored = await readJob(run, wait);
  wait.listedAfter = wait.stored?.etag ?? 'none';
}

/** A decision by which this request asks Athena. */
type Leading = Extract<Decision, { next: 'start' | 'take-over' }>;

/** Takes a slot for the job's next query, if clients have a limited number, and then starts the query. */
async function withSlot(run: Run, wait: Wait, decision: Leading): Promise<Delivery | undefined> {
  const { terms, backends, wanted } = run;
  const { queriesPerPartner: count, longestQueueMs, longestQueryMs, waitUntil, giveUpAt } = terms;
  if (count === undefined) return lead(run, wait, decision);
  const key = jobRecordKey(wait.target.job);
  const limits = { count, longestMs: longestQueueMs + longestQueryMs, until: waitUntil };
  const latest = readRecord(wait.stored);
  const slot = await takeSlot(backends.results, wanted.client, key, latest, limits, wait.slots);
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
  wait.stored = await readJob(run, wait);
  return undefined;
}

async function lead(run: Run, wait: Wait, decision: Leading, slot?: string): Promise<Delivery | undefined> {
  const outcome = await leadAttempt(run, wait.target, wait.stored, { decision, slot }, (token) => {
    startsWaiting(wait);
    if (decision.next === 'start') wait.own = token;
  });
  if (outcome === 'time-is-up') {
    if (Date.now() >= run.terms.giveUpAt) throw tookTooLong();
    return waiting(wait);
  }
  wait.stored = outcome ?? (await readJob(run, wait));
  return undefined;
}

/** The answer with a report. */
function ready(
  { note }: Run,
  { target: { job, data } }: Wait,
  { record, encoding, cacheStatus }: Extract<Decision, { next: 'deliver' }>,
): Delivery {
  const { executionId, isOfVersion, files, rows } = record;
  const plain = reportKey(executionId, job.fileName);
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
  switch (why) {
    case 'too-large':
      return new ReportTooLarge();
    case 'too-long':
      return tookTooLong();
    case 'data-changed':
      return dataKeepChanging();
    case 'unpublished':
      return new PublicationFailed(`the result of query ${executionId} ${reason}`);
    default:
      return new QueryFailed(`query ${executionId} ${reason}`);
  }
}
