import { setTimeout as delay } from 'node:timers/promises';
import { begun } from '../begun.ts';
import { type DataState, readDataState } from '../lake/data-version.ts';
import { dataKeepChanging, noSlotInTime, Overloaded, tookTooLong } from '../problems/problem.ts';
import { AGE_ERROR_MS, leaseLeftMs, readRecord } from '../results/job-record.ts';
import { gzippedKey, jobRecordKey, reportKey, slotsKey } from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import { takeSlot } from '../results/slots.ts';
import type { Progress } from '../results/ticket.ts';
import { type Decision, decide } from './decide.ts';
import { type Delivery, makeJob, type Run, refusalOf, type Wait } from './delivery.ts';
import { endFacts, type Leading, leadAttempt } from './lead.ts';
import { nextFileLookMs, nextRecordLookMs, nextSlotLookMs } from './pace.ts';
import { requestPublication } from './publication.ts';

/** How many times a report is started again because files changed during its query. */
const MAX_DATA_CHANGES = 3;

/** The longest random pause of a waiting request after the lease has ended, before it takes the attempt over. */
const TAKE_OVER_MS = 1_000;

/**
 * Gets a report ready, if possible by the time at which the request must be answered (docs/contract.md#the-redirect):
 * reads the job's record, does what `decide` says, and reads the record again. Throws NoRecords, ReportTooLarge,
 * Unavailable, QueryFailed or PublicationFailed.
 * @param data the state of the data to report on: the state that the awaited attempt reads, or the lake's state now
 * @param progress what the caller's previous request stored, if there was one
 */
export async function deliverReport(run: Run, data: DataState, progress?: Progress): Promise<Delivery> {
  const { wanted, terms, backends } = run;
  const hasSlots = terms.queriesPerPartner !== undefined && progress?.waitsFor !== 'attempt';
  const wait: Wait = {
    ...run,
    job: makeJob(wanted, data),
    stored: undefined,
    hasWaited: progress?.cacheStatus !== undefined,
    own: progress?.attempt,
    waitsForSlot: progress?.waitsFor === 'slot',
    dataChanges: progress?.dataChanges ?? 0,
    slots: hasSlots ? begun(backends.results.read(slotsKey(wanted.client))) : undefined,
  };
  try {
    wait.stored = await readJob(wait);
    for (;;) {
      const answer = await nextStep(wait);
      if (answer) return answer;
      // What was read beside the first record is old after a wait: another may have taken the slot.
      wait.slots = undefined;
    }
  } catch (error) {
    // AWS throttles this request. Meanwhile the query or the publication goes on, or a slot becomes free.
    const waits = wait.hasWaited || wait.waitsForSlot;
    if (error instanceof Overloaded && waits && Date.now() < terms.publishUntil) return waiting(wait);
    throw error;
  }
}

/** Does what the record asks for. Resolves to the answer; to undefined if the record must be looked at again. */
async function nextStep(wait: Wait): Promise<Delivery | undefined> {
  const { terms, note, job, stored } = wait;
  const ageMs = stored?.ageMs ?? 0;
  const decision = decide(readRecord(stored), ageMs, {
    ...terms,
    fingerprint: job.data.fingerprint,
    hasListed: hasListed(wait),
    waitedMs: wait.hasWaited ? Date.now() - terms.askedAt : undefined,
    own: wait.own,
    leftMs: terms.giveUpAt - Date.now(),
  });
  note({ job: job.id });
  if ('record' in decision && 'executionId' in decision.record)
    note({ queryExecutionId: decision.record.executionId });
  const isTimeUp = Date.now() >= terms.giveUpAt;
  const mustAnswer = Date.now() >= terms.waitUntil;
  if (['wait', 'publish', 'take-over'].includes(decision.next)) {
    // The caller waits for this attempt from now on, and no longer for a slot.
    wait.hasWaited = true;
    wait.waitsForSlot = false;
  }
  switch (decision.next) {
    case 'deliver':
      return ready(wait, decision);
    case 'refuse':
      note(endFacts(decision.record));
      throw refusalOf(decision.record);
    case 'list-again':
      return listAgain(wait);
    case 'wait': {
      if (isTimeUp) throw tookTooLong();
      if (mustAnswer) return waiting(wait);
      const queryMs = ageMs + ('elapsedMs' in decision.record ? decision.record.elapsedMs : 0);
      // A random pause, so that waiting requests don't all take over at the same time.
      const leaseEnd = Date.now() + leaseLeftMs(decision.record, ageMs) + Math.random() * TAKE_OVER_MS;
      const until = Math.min(leaseEnd, terms.waitUntil, terms.giveUpAt);
      await watchRecord(wait, stored, until, (waitedMs, tookMs) =>
        nextRecordLookMs(queryMs + waitedMs, tookMs, Math.random()),
      );
      return undefined;
    }
    case 'publish':
      wait.stored = await requestPublication(wait, decision.record);
      await watchRecord(wait, stored, terms.waitUntil, nextFileLookMs);
      if (wait.stored?.etag !== stored?.etag) return undefined;
      if (Date.now() >= terms.publishUntil) throw tookTooLong();
      return waiting(wait);
    case 'take-over': {
      const isStarting = decision.record.state === 'starting';
      // No query is started for a caller whose time is up. One that is under way is asked about once more.
      if (isTimeUp && isStarting) throw tookTooLong();
      // This request has no time left to ask Athena. Its lease would only block others, which may have time.
      if (mustAnswer && !isTimeUp) return waiting(wait);
      return isStarting ? withSlot(wait, decision) : lead(wait, decision);
    }
    case 'start':
      if (isTimeUp) throw wait.waitsForSlot ? noSlotInTime() : tookTooLong();
      return withSlot(wait, decision);
  }
}

/** Whether the lake was listed after the record was written, or can't be listed. */
function hasListed({ job: { data }, stored, listedAfter }: Wait): boolean {
  if (!data.isListed || listedAfter === (stored?.etag ?? 'none')) return true;
  // A hop that waits for a slot has listed the lake before it reads the record, perhaps long after the record's write.
  const listedForMs = Date.now() - (data.listedAt ?? Number.NaN);
  return stored !== undefined && listedForMs >= 0 && listedForMs < stored.ageMs - AGE_ERROR_MS;
}

const readJob = ({ backends: { results }, job }: Pick<Wait, 'backends' | 'job'>) =>
  results.read(jobRecordKey(job));

/** Reads the job's record, with pauses, until it is no longer the one that was `seen`, or until the time `until`. */
export async function watchRecord(
  wait: Pick<Wait, 'backends' | 'job' | 'stored'>,
  seen: StoredDocument | undefined,
  until: number,
  pauseMs: (waitedMs: number, tookMs: number) => number,
): Promise<void> {
  const began = Date.now();
  let tookMs = 0;
  for (let now = began; now < until && wait.stored?.etag === seen?.etag; now = Date.now()) {
    await delay(Math.min(pauseMs(now - began, tookMs), until - now));
    const lookedAt = Date.now();
    wait.stored = await readJob(wait);
    tookMs = Date.now() - lookedAt;
  }
}

/** The answer that leads the caller to the waiting room. */
function waiting({ job, hasWaited, own, waitsForSlot, dataChanges }: Wait): Delivery {
  const cacheStatus = hasWaited && !waitsForSlot && own === undefined ? 'collapsed' : 'miss';
  const every = { dataChanges, ...(own !== undefined && { attempt: own }) };
  // It says that the caller has waited for an attempt. Release 1.0.0 reads more in it: another caller's attempt.
  const waited = { cacheStatus: 'collapsed' } as const;
  // `listedAt` is by this machine's clock, so another machine can't use it.
  const { listedAt: _, ...data } = job.data;
  const progress: Progress = waitsForSlot
    ? { waitsFor: 'slot', ...every, ...(hasWaited && waited) }
    : { waitsFor: 'attempt', ...every, data, ...waited };
  return { state: 'waiting', progress, cacheStatus };
}

/** Lists the lake again. If its files have changed, the request goes on with another job or another listing. */
async function listAgain(wait: Wait): Promise<undefined> {
  const record = readRecord(wait.stored);
  const data = await readDataState(wait.backends.lake, wait.wanted.request, 0);
  // A change is counted once: after it, the request goes by another listing than the failed attempt. If this listing
  // fails, the next request lists again and counts the change.
  const isOfAttempt = record?.fingerprint === wait.job.data.fingerprint;
  if (isOfAttempt && record.state === 'failed' && record.why === 'data-changed') wait.dataChanges += 1;
  if (wait.dataChanges > MAX_DATA_CHANGES) throw dataKeepChanging();
  const { id } = wait.job;
  wait.job = makeJob(wait.wanted, data);
  if (wait.job.id !== id) wait.stored = await readJob(wait);
  wait.listedAfter = wait.stored?.etag ?? 'none';
}

/** Takes a slot for the job's next query, if clients have a limited number, and then starts the query. */
async function withSlot(wait: Wait, decision: Leading): Promise<Delivery | undefined> {
  const { terms, backends, wanted } = wait;
  const { queriesPerPartner: count, longestQueueMs, longestQueryMs, waitUntil, giveUpAt } = terms;
  if (count === undefined) return lead(wait, decision);
  const limits = { count, longestMs: longestQueueMs + longestQueryMs, until: waitUntil };
  const record = { key: jobRecordKey(wait.job), latest: readRecord(wait.stored) };
  // Only a request's first look asks Athena: waiting callers look for a free slot every second or two.
  const ask = wait.slots && ((id: string) => hasEnded(wait, id));
  const slot = await takeSlot(backends.results, wanted.client, record, limits, wait.slots, ask);
  const leftMs = giveUpAt - Date.now();
  if (slot !== undefined) {
    if (leftMs <= 0) throw tookTooLong();
    return lead(wait, decision, slot);
  }
  wait.note({ waitsForShare: true });
  wait.waitsForSlot = true;
  if (leftMs <= 0) throw noSlotInTime();
  if (Date.now() >= waitUntil) return waiting(wait);
  await delay(Math.min(nextSlotLookMs(leftMs, Math.random()), leftMs, waitUntil - Date.now()));
  wait.stored = await readJob(wait);
  return undefined;
}

/** Whether a query has ended. If Athena throttles or does not answer, the caller waits as if the query went on. */
const hasEnded = ({ backends: { queries } }: Wait, executionId: string): Promise<boolean> =>
  queries.get(executionId).then(
    ({ state }) => state !== 'under-way',
    (error) => (error instanceof Overloaded ? false : Promise.reject(error)),
  );

/** Leads the attempt. Resolves to an answer if the request must answer before the query has ended. */
async function lead(wait: Wait, decision: Leading, slot?: string): Promise<Delivery | undefined> {
  const outcome = await leadAttempt(wait, decision, slot);
  if (outcome === 'time-is-up') {
    if (Date.now() >= wait.terms.giveUpAt) throw tookTooLong();
    return waiting(wait);
  }
  wait.stored = outcome ?? (await readJob(wait));
  return undefined;
}

/** The answer with a report. */
function ready(
  { note, job: { data, fileName } }: Wait,
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
