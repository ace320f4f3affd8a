import { setTimeout as delay } from 'node:timers/promises';
import { readDataState } from '../lake/read-data-state.ts';
import type { OpenRecord } from '../results/job-record.ts';
import { jobRecordKey } from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import { nextAttempt, startAttempt } from './arrive.ts';
import { takeOver } from './attempt.ts';
import { deliverFile } from './deliver-file.ts';
import { dataKeepChanging, tookTooLong } from './delivery.ts';
import { refusalOf } from './end-attempt.ts';
import { judgeRecord, leaseLeftMs, requestFacts } from './judge-record.ts';
import { nextRecordLookMs } from './pace.ts';
import { type Following, progressOf, type Run, type Step, targetOf, waiting } from './phase.ts';

/** The longest random pause of a waiting request after the lease has ended, before it takes the attempt over. */
const TAKE_OVER_MS = 1_000;

/** How many times a report is started again because files changed during its query. */
const MAX_DATA_CHANGES = 3;

/** Acts on a job's record. While another request holds the lease, waits for the record to change. */
export async function followAttempt(run: Run, phase: Following): Promise<Step> {
  const { backends, terms, wanted, note } = run;
  const { target } = phase;
  const stored = phase.seen ?? (await backends.results.read(jobRecordKey(target.job, target.data)));
  const verdict = judgeRecord(stored, requestFacts(terms, phase));
  if ('record' in verdict && verdict.record.state === 'under-way')
    note({ queryExecutionId: verdict.record.executionId });
  switch (verdict.next) {
    case 'start':
      return { at: 'arrived', target, waitsForSlot: false, waited: phase };
    case 'watch': {
      const now = Date.now();
      if (now >= terms.giveUpAt) return { refusal: tookTooLong() };
      if (now >= terms.waitUntil || !stored) return waiting(progressOf(phase));
      return { ...phase, seen: await watchRecord(run, phase, stored, verdict.record) };
    }
    case 'take-over': {
      // This request has no time left to ask Athena. Its lease would only block other requests, which may have time.
      if (Date.now() >= terms.waitUntil && Date.now() < terms.giveUpAt) return waiting(progressOf(phase));
      // No query is started for a caller whose time is up.
      if (verdict.record.state === 'starting' && Date.now() >= terms.giveUpAt)
        return { refusal: tookTooLong() };
      // Perhaps the attempt's query was never started, and the attempt's slot may be too old. So take a slot of this
      // client first.
      if (verdict.record.state === 'starting' && terms.queriesPerPartner !== undefined)
        return startAttempt(run, target, {
          latest: stored,
          left: { attempt: verdict.record.attempt, cacheStatus: phase.cacheStatus },
          isRetry: verdict.record.isRetry,
          attempts: verdict.record.attempts ?? 1,
          waited: phase,
        });
      return takeOver(run, target, stored, verdict.record, phase.cacheStatus);
    }
    case 'deliver':
      return (
        (await deliverFile(run, target, verdict.record, phase.cacheStatus, true)) ??
        startAttempt(run, target, { latest: stored, waited: phase, ...nextAttempt(verdict.record) })
      );
    case 'refuse':
      return { refusal: refusalOf(run, verdict.record) };
    case 'look-again': {
      const { dataChanges } = target;
      if (dataChanges >= MAX_DATA_CHANGES) return { refusal: dataKeepChanging() };
      const data = await readDataState(backends.lake, wanted.request, 0);
      const next = targetOf(wanted, data, dataChanges + 1);
      return { at: 'arrived', target: next, waitsForSlot: false, waited: phase };
    }
  }
}

/**
 * Reads the record repeatedly: until the record changes, until a random pause after its lease's end is over, or until
 * the time of this request or of its caller is up. Resolves to the document that was read last.
 */
async function watchRecord(
  { backends, terms }: Run,
  { target: { job, data } }: Following,
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
    latest = await backends.results.read(jobRecordKey(job, data));
    tookMs = Date.now() - lookedAt;
  }
  return latest;
}
