import { setTimeout as delay } from 'node:timers/promises';
import { begun } from '../begun.ts';
import type { DataState } from '../lake/data-version.ts';
import { readDataState } from '../lake/read-data-state.ts';
import { Overloaded, ReportTooLarge } from '../problems/problem.ts';
import { leaseLeftMs, type OpenRecord, type RecordIn, readRecord } from '../results/job-record.ts';
import {
  abandonedKey,
  gzippedKey,
  jobRecordKey,
  publicationKey,
  reportKey,
  slotsKey,
} from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import { takeSlot } from '../results/slots.ts';
import type { Progress } from '../results/ticket.ts';
import { type Decision, decide } from './decide.ts';
import {
  type CacheStatus,
  type Delivery,
  type DeliveryBackends,
  type DeliveryFacts,
  type DeliveryTerms,
  dataKeepChanging,
  noSlotInTime,
  PublicationFailed,
  QueryFailed,
  type Run,
  type Target,
  tookTooLong,
  type Wanted,
} from './delivery.ts';
import { hasTimeForAnother } from './execution.ts';
import { abandonPublication, type Publication, recordFiles, requestPublication } from './files.ts';
import { makeJob } from './job.ts';
import { endFacts, leadAttempt } from './lead.ts';
import { nextFileLookMs, nextRecordLookMs, nextSlotLookMs } from './pace.ts';

/** How many times a report is started again because files changed during its query. */
const MAX_DATA_CHANGES = 3;

/** The longest random pause of a waiting request after the lease has ended, before it takes the attempt over. */
const TAKE_OVER_MS = 1_000;

/**
 * Gets a report ready, if possible by the time at which the request must be answered (docs/contract.md#the-redirect):
 * reads the job's record, does what `decide` says, and reads the record again. Throws NoRecords, ReportTooLarge,
 * Unavailable, QueryFailed or PublicationFailed.
 *
 * @param note takes facts for the log and the metrics, also before an error is thrown
 * @param data the state of the data to report on: the state that the awaited attempt reads, or the lake's state now
 * @param left the progress that the caller's previous request stored, if there was one
 */
export async function deliverReport(
  backends: DeliveryBackends,
  wanted: Wanted,
  terms: DeliveryTerms,
  note: (facts: DeliveryFacts) => void,
  data: DataState,
  left?: Progress,
): Promise<Delivery> {
  const run: Run = { backends, wanted, terms, note };
  const { results } = backends;
  const targetOf = (data: DataState): Target => ({
    data,
    job: makeJob(wanted.request, wanted.entitlement, data),
  });
  let target = targetOf(data);
  /** Whether the awaited attempt was created for this caller; undefined until the caller waits for one. */
  let cacheStatus = left?.cacheStatus;
  let dataChanges = left?.dataChanges ?? 0;
  let waitsForSlot = left?.waitsFor === 'slot';
  let slotsRead =
    terms.queriesPerPartner === undefined || left?.waitsFor === 'attempt'
      ? undefined
      : begun(results.read(slotsKey(wanted.client)));
  const waiting = (): Delivery => {
    // `listedAt` is by this machine's clock, so another machine can't use it.
    const { listedAt: _, ...known } = target.data;
    const status = cacheStatus ?? 'miss';
    const progress: Progress = waitsForSlot
      ? { waitsFor: 'slot', dataChanges, ...(cacheStatus && { cacheStatus }) }
      : { waitsFor: 'attempt', data: known, cacheStatus: status, dataChanges };
    return { state: 'waiting', progress, cacheStatus: status };
  };
  const startOver = (latest: DataState) => {
    dataChanges += 1;
    if (dataChanges > MAX_DATA_CHANGES) throw dataKeepChanging();
    target = targetOf(latest);
  };
  const listAgain = () => readDataState(backends.lake, wanted.request, 0);
  try {
    for (let stored = await results.read(jobRecordKey(target.job)); ; ) {
      const { job } = target;
      note({ job: job.id });
      const record = readRecord(stored);
      const decision = decide(record, stored?.ageMs ?? 0, {
        fingerprint: target.data.fingerprint,
        waitedMs: cacheStatus && Date.now() - terms.askedAt,
        isOwn: cacheStatus === 'miss',
        hasTimeForAnother: hasTimeForAnother({ ...terms, callerLeftMs: terms.giveUpAt - Date.now() }),
        scanLimit: terms.scanLimit,
      });
      if ('record' in decision && 'executionId' in decision.record)
        note({ queryExecutionId: decision.record.executionId });
      const now = Date.now();
      const isTimeUp = now >= terms.giveUpAt;
      switch (decision.next) {
        case 'deliver':
          return ready(run, target, decision.record, cacheStatus ?? 'hit');
        case 'refuse':
          throw refusalOf(run, decision.record);
        case 'list-again':
          startOver(await listAgain());
          stored = await results.read(jobRecordKey(target.job));
          continue;
        case 'wait':
          cacheStatus ??= 'collapsed';
          waitsForSlot = false;
          if (isTimeUp) throw tookTooLong();
          if (now >= terms.waitUntil || !stored) return waiting();
          stored = await watchRecord(run, target, stored, decision.record);
          continue;
        case 'publish':
          cacheStatus ??= 'collapsed';
          waitsForSlot = false;
          stored = await awaitPublication(run, target, stored, decision.record);
          if (readRecord(stored)?.state !== 'publishing') continue;
          if (Date.now() >= terms.publishUntil) throw tookTooLong();
          return waiting();
        case 'start':
        case 'take-over': {
          const open = decision.next === 'take-over' ? decision.record : undefined;
          if (open) {
            cacheStatus ??= 'collapsed';
            waitsForSlot = false;
            // This request has no time left to ask Athena. Its lease would only block others, which may have time.
            if (now >= terms.waitUntil && !isTimeUp) return waiting();
          }
          // No query is started for a caller whose time is up. One that is under way is asked about once more.
          if (isTimeUp && open?.state !== 'under-way') throw waitsForSlot ? noSlotInTime() : tookTooLong();
          // The record is of another listing, for which this caller has waited: perhaps the lake has changed.
          if (
            !open &&
            cacheStatus &&
            record &&
            record.fingerprint !== target.data.fingerprint &&
            target.data.isListed
          ) {
            const latest = await listAgain();
            if (latest.fingerprint !== target.data.fingerprint) {
              startOver(latest);
              stored = await results.read(jobRecordKey(target.job));
              continue;
            }
          }
          const slot =
            open?.state === 'under-way' ? undefined : await slotFor(run, target, record, slotsRead);
          slotsRead = undefined;
          if (slot === 'none') {
            note({ waitsForShare: true });
            waitsForSlot = true;
            const leftMs = terms.giveUpAt - Date.now();
            if (leftMs <= 0) throw noSlotInTime();
            if (Date.now() >= terms.waitUntil) return waiting();
            const pauseMs = Math.min(nextSlotLookMs(leftMs, Math.random()), leftMs);
            await delay(Math.min(pauseMs, terms.waitUntil - Date.now()));
            stored = await results.read(jobRecordKey(job));
            continue;
          }
          if (Date.now() >= terms.giveUpAt && open?.state !== 'under-way') throw tookTooLong();
          const attempt = {
            ...(open && { open }),
            ...attemptAfter(decision, record, cacheStatus !== undefined),
            slot,
          };
          const outcome = await leadAttempt(run, target, stored, attempt, () => {
            cacheStatus = open ? cacheStatus : 'miss';
            waitsForSlot = false;
          });
          if (outcome === 'time-is-up') {
            if (Date.now() < terms.giveUpAt) return waiting();
            throw tookTooLong();
          }
          stored = outcome ?? (await results.read(jobRecordKey(job)));
        }
      }
    }
  } catch (error) {
    // AWS throttles this request, and its caller has time left. The caller goes on waiting: meanwhile the query or the
    // publication continues, or a slot becomes free.
    if (error instanceof Overloaded && (cacheStatus || waitsForSlot) && Date.now() < terms.publishUntil)
      return waiting();
    throw error;
  }
}

/** The number of the next attempt, and whether it repeats a query that failed. */
function attemptAfter(decision: Decision, record: ReturnType<typeof readRecord>, hasWaited: boolean) {
  if (decision.next === 'take-over')
    return { isRetry: decision.record.isRetry, attempts: decision.record.attempts };
  const isRetry = decision.next === 'start' && decision.isRetry;
  return { isRetry, attempts: hasWaited && record ? record.attempts + 1 : 1 };
}

/** Takes a slot for a job's next query, if clients have a limited number. */
async function slotFor(
  { backends: { results }, wanted: { client }, terms }: Run,
  { job }: Target,
  record: ReturnType<typeof readRecord>,
  read?: Promise<StoredDocument | undefined>,
): Promise<string | 'none' | undefined> {
  const count = terms.queriesPerPartner;
  if (count === undefined) return undefined;
  const limits = { count, longestMs: terms.longestQueueMs + terms.longestQueryMs, until: terms.waitUntil };
  return (await takeSlot(results, client, jobRecordKey(job), record, limits, read)) ?? 'none';
}

/** The answer with a report: the gzipped file if there is one and the caller accepts gzip, otherwise the plain file. */
function ready(
  { terms: { acceptsGzip }, note }: Run,
  { job, data }: Target,
  { executionId, isOfVersion, files: { plain, gzip } }: RecordIn<'done'>,
  cacheStatus: CacheStatus,
): Delivery {
  const key = reportKey(executionId, job.fileName);
  const dataVersion = isOfVersion ? { dataVersion: data.version } : {};
  note({ queryExecutionId: executionId, ...dataVersion });
  const file =
    acceptsGzip && gzip !== undefined ? { key: gzippedKey(key), bytes: gzip } : { key, bytes: plain };
  return { state: 'ready', ...file, cacheStatus, ...dataVersion };
}

/** The error that the caller gets for an attempt that left no report. */
function refusalOf({ note }: Run, record: RecordIn<'failed'>): Error {
  const { executionId, why, reason } = record;
  note({ queryExecutionId: executionId, ...endFacts(record) });
  if (why === 'too-large') return new ReportTooLarge();
  if (why === 'too-long') return tookTooLong();
  if (why === 'unpublished') return new PublicationFailed(`the result of query ${executionId} ${reason}`);
  return new QueryFailed(`query ${executionId} ${reason}`);
}

/**
 * Reads the record repeatedly: until the record changes, until a random pause after its lease's end is over, or until
 * the time of this request or of its caller is up. Resolves to the document that was read last.
 */
async function watchRecord(
  { backends, terms }: Run,
  { job }: Target,
  seen: StoredDocument,
  record: OpenRecord,
): Promise<StoredDocument | undefined> {
  const began = Date.now();
  const ageAtBegin = seen.ageMs + (record.state === 'under-way' ? record.elapsedMs : 0);
  // A random pause, so that waiting requests don't all take over at the same time.
  const leaseEnd = began + leaseLeftMs(record, seen.ageMs) + Math.random() * TAKE_OVER_MS;
  const end = Math.min(leaseEnd, terms.waitUntil, terms.giveUpAt);
  let latest: StoredDocument | undefined = seen;
  let tookMs = 0;
  for (let now = began; now < end && latest?.etag === seen.etag; now = Date.now()) {
    await delay(Math.min(nextRecordLookMs(ageAtBegin + now - began, tookMs, Math.random()), end - now));
    const lookedAt = Date.now();
    latest = await backends.results.read(jobRecordKey(job));
    tookMs = Date.now() - lookedAt;
  }
  return latest;
}

/**
 * Makes the publishing function publish a large result, and waits until the files exist, the record has changed, or this
 * request must answer. Resolves to the record as it is stored then.
 */
async function awaitPublication(
  { backends: { results }, terms }: Run,
  { job, data }: Target,
  stored: StoredDocument | undefined,
  { executionId, location, isOfVersion }: RecordIn<'publishing'>,
): Promise<StoredDocument | undefined> {
  const began = Date.now();
  const publication: Publication = {
    form: 1,
    executionId,
    location,
    key: reportKey(executionId, job.fileName),
    fileName: job.fileName,
    columns: [...job.columns],
    record: jobRecordKey(job),
    ...(isOfVersion && { dataVersion: data.version }),
    ...(terms.partner !== undefined && { partner: terms.partner }),
  };
  await requestPublication(results, publication);
  for (;;) {
    // If the publishing function has died, or is of the release before, the files are there and the record is as it was.
    const [latest, recorded, abandoned] = await Promise.all([
      results.read(jobRecordKey(job)),
      recordFiles(results, publication),
      // Release 1.0.0 tells by this object that it has given a publication up.
      results.head(abandonedKey(executionId)),
    ]);
    if (abandoned && !recorded) await abandonPublication(results, publicationKey(executionId));
    const found = recorded ?? (abandoned ? await results.read(jobRecordKey(job)) : latest);
    if (found?.etag !== stored?.etag) return found;
    const now = Date.now();
    if (now >= terms.waitUntil) return found;
    await delay(Math.min(nextFileLookMs(now - began), terms.waitUntil - now));
  }
}
