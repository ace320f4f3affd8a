import { setTimeout as delay } from 'node:timers/promises';
import { type JobRecord, readRecord } from '../results/job-record.ts';
import { cachedReportKey, jobRecordKey, slotsKey } from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import { createAttempt, following, type NewAttempt } from './attempt.ts';
import { deliverFile } from './deliver-file.ts';
import { noSlotInTime, tookTooLong } from './delivery.ts';
import { refusalOf } from './end-attempt.ts';
import { judgeRecord, requestFacts } from './judge-record.ts';
import { nextSlotLookMs } from './pace.ts';
import { type Arrived, begun, type Run, type Step, type Target, waiting } from './phase.ts';
import { takeSlot } from './take-slot.ts';

/**
 * Delivers the cached report if there is one; otherwise joins the attempt under way, or starts a query. Starts
 * all its reads together, but waits only for the records that it needs.
 */
export async function arrive(run: Run, { target, waited, waitsForSlot }: Arrived): Promise<Step> {
  const { job, data } = target;
  const { results } = run.backends;
  const cachedRead = begun(results.read(cachedReportKey(job)));
  const latestRead = begun(results.read(jobRecordKey(job, data)));
  const slotsRead =
    run.terms.queriesPerPartner === undefined ? undefined : begun(results.read(slotsKey(run.wanted.client)));

  const cached = judgeRecord(await cachedRead, requestFacts(run.terms));
  if (cached.next === 'refuse') return { refusal: refusalOf(run, cached.record) };
  if (cached.next === 'deliver') {
    const step = await deliverFile(run, target, cached.record, waited?.cacheStatus);
    if (step) return step;
  }
  const latest = await latestRead;
  const isRetry = (waited !== undefined || waitsForSlot) && endsBeforeRetry(readRecord(latest));
  const start = () => startAttempt(run, target, { latest, slotsRead, isRetry });
  const verdict = judgeRecord(latest, requestFacts(run.terms));
  switch (verdict.next) {
    case 'watch':
    case 'take-over':
      return following(target, latest, waited?.cacheStatus);
    case 'deliver': {
      const isGone = cached.next === 'deliver' && cached.record.executionId === verdict.record.executionId;
      return (
        (isGone ? undefined : await deliverFile(run, target, verdict.record, waited?.cacheStatus)) ?? start()
      );
    }
    case 'refuse':
      return { refusal: refusalOf(run, verdict.record) };
    case 'start':
    case 'look-again':
      return start();
  }
}

/** Whether the next attempt repeats a query that failed, and that no request had a slot to repeat. */
const endsBeforeRetry = (record: JobRecord | undefined): boolean =>
  record?.state === 'failed' && record.cause === 'not-repeated' && record.isRetry === true;

/**
 * Creates a job's next attempt if the client has a free slot. Otherwise pauses; the request then looks for a slot
 * again. If no slot is free when the request's time is up, the caller goes on waiting. If the caller's time is up, it
 * gets an error, even if a slot is free.
 */
export async function startAttempt(
  run: Run,
  target: Target,
  {
    latest,
    slotsRead,
    ...attempt
  }: {
    /** The previous attempt's record; undefined if there was none. */
    readonly latest: StoredDocument | undefined;
    readonly slotsRead?: Promise<StoredDocument | undefined> | undefined;
  } & Omit<NewAttempt, 'slot'>,
): Promise<Step> {
  const { terms, note } = run;
  const grant = await takeSlot(run, target, slotsRead, latest);
  const now = Date.now();
  if (grant)
    return now >= terms.giveUpAt
      ? { refusal: tookTooLong() }
      : createAttempt(run, target, latest, { ...attempt, ...grant });
  note({ waitsForShare: true });
  if (now >= terms.giveUpAt) return { refusal: noSlotInTime() };
  const { dataChanges } = target;
  if (now >= terms.waitUntil) return waiting({ waitsFor: 'slot', dataChanges });
  const pauseMs = nextSlotLookMs(terms.giveUpAt - now, Math.random());
  await delay(Math.min(pauseMs, terms.waitUntil - now, terms.giveUpAt - now));
  return { at: 'arrived', target, waitsForSlot: true };
}
