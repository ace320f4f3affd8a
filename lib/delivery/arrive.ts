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
import { type Arrived, begun, progressOf, type Run, type Step, type Target, waiting } from './phase.ts';
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
  const next = waited && nextAttempt(readRecord(latest));
  const start = () => startAttempt(run, target, { latest, slotsRead, waited, waitsForSlot, ...next });
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

/** The attempt that follows this record's one, for a caller that has waited. */
export const nextAttempt = (record: JobRecord | undefined): Pick<NewAttempt, 'isRetry' | 'attempts'> => ({
  isRetry: record?.state === 'failed' && record.cause === 'not-repeated' && record.isRetry === true,
  attempts: (record?.attempts ?? 1) + 1,
});

/**
 * Creates a job's next attempt if the client has a free slot. Otherwise pauses; the request then looks for a slot
 * again. If no slot is free when the request's time is up, the caller goes on waiting. If the caller's time is up, it
 * takes no slot and gets an error.
 */
export async function startAttempt(
  run: Run,
  target: Target,
  {
    latest,
    slotsRead,
    waited,
    waitsForSlot = false,
    ...attempt
  }: {
    /** The previous attempt's record; undefined if there was none. */
    readonly latest: StoredDocument | undefined;
    readonly slotsRead?: Promise<StoredDocument | undefined> | undefined;
  } & Partial<Pick<Arrived, 'waited' | 'waitsForSlot'>> &
    Omit<NewAttempt, 'slot'>,
): Promise<Step> {
  const { terms, note } = run;
  const isTimeUp = () => Date.now() >= terms.giveUpAt;
  if (isTimeUp()) return { refusal: waitsForSlot ? noSlotInTime() : tookTooLong() };
  const grant = await takeSlot(run, target, slotsRead, latest);
  if (grant)
    return isTimeUp()
      ? { refusal: tookTooLong() }
      : createAttempt(run, target, latest, { ...attempt, ...grant });
  note({ waitsForShare: true });
  const arrived = { at: 'arrived', target, waitsForSlot: true, waited } as const;
  const now = Date.now();
  if (now >= terms.waitUntil) return waiting(progressOf(arrived));
  const pauseMs = nextSlotLookMs(terms.giveUpAt - now, Math.random());
  await delay(Math.min(pauseMs, terms.waitUntil - now, terms.giveUpAt - now));
  return arrived;
}
