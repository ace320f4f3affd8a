import { setTimeout as delay } from 'node:timers/promises';
import { Overloaded } from '../answers/problem.ts';
import { REPORT_KEPT_DAYS } from '../names.ts';
import { claimNext, takeOver } from './claim-try.ts';
import { deliverFile } from './deliver-file.ts';
import {
  type Delivery,
  type DeliveryBackends,
  type DeliveryFacts,
  type DeliveryTerms,
  dataKeepMoving,
  type Progress,
  shareStayedFull,
  tookTooLong,
  type Wanted,
} from './delivery.ts';
import { judgeRecord, type RequestFacts } from './judge-record.ts';
import { leadQuery } from './lead-query.ts';
import { copyKey, recordKey } from './order.ts';
import { type OpenRecord, readRecord } from './order-record.ts';
import { nextRecordLookMs, nextShareLookMs } from './pace.ts';
import { figuresOf, refusalOf } from './record-end.ts';
import type { StoredDocument } from './results.ts';
import { beginRun, follow, lookAgain, type Run, waiting } from './run.ts';
import { takeShare } from './take-share.ts';

/** A file is not given out on the last day that it is kept, so that no link outlives its file. */
export const LONGEST_KEPT_MS = (REPORT_KEPT_DAYS - 1) * 86_400_000;

/** When a request no longer asks the engine, one of those that wait takes over within so many milliseconds. */
const TAKE_OVER_MS = 1_000;

/** How often a request looks at the lake again because files changed under its query. */
const MAX_MOVES = 3;

/**
 * Gets a report ready, as far as that can be done by the time at which the request must be answered
 * (docs/contract.md#the-redirect). It gives the copy of this version of the data, or else joins or starts a query.
 * Throws NoRecords, ReportTooLarge, Unavailable, QueryFailed or PublicationFailed.
 *
 * @param note takes facts for the log and the metrics, also before an error is thrown
 * @param left what an earlier request of the same caller left, if there was one
 */
export async function deliverReport(
  backends: DeliveryBackends,
  wanted: Wanted,
  terms: DeliveryTerms,
  note: (facts: DeliveryFacts) => void,
  left?: Progress,
): Promise<Delivery> {
  const run = await beginRun(backends, wanted, terms, note, left);
  for (;;) {
    const delivery = await step(run).catch((error: unknown) => {
      // AWS throttles, but the query goes on, or waits for its share, and the caller has time left.
      const isUnderWay = run.follows !== undefined || run.waitsForShare;
      if (error instanceof Overloaded && isUnderWay && Date.now() < terms.giveUpAt)
        return waiting(run, run.follows);
      throw error;
    });
    if (delivery) return delivery;
  }
}

/** Does what is next. Undefined where what is stored has to be read again. */
async function step(run: Run): Promise<Delivery | undefined> {
  const { results } = run.backends;
  if (!run.hasLookedForCopy) {
    run.hasLookedForCopy = true;
    const copy = readRecord(await results.read(copyKey(run.order)));
    const verdict = judgeRecord(copy, { ...factsOf(run), isWaiting: false });
    if (verdict.next === 'refuse') return refuse(run, verdict.record);
    const given = verdict.next === 'deliver' && (await deliverFile(run, verdict.record));
    if (given) return given;
  }
  const stored = await results.read(recordKey(run.order, run.data));
  const verdict = judgeRecord(readRecord(stored), factsOf(run));
  const start = async (after: string | undefined) => {
    if (!(await takeShare(run, after))) return waitForShare(run);
    const claimed = await claimNext(run, stored, after, false);
    // Not before the claim: if S3 throttles the claim, the caller waits on as it did for its share.
    run.waitsForShare = false;
    return claimed && leadQuery(run, claimed);
  };
  const { terms } = run;
  switch (verdict.next) {
    case 'start':
      return start(verdict.after);
    case 'ask': {
      join(run, verdict.record);
      // This request has no time left to ask the engine: its claim would only block requests that have.
      if (Date.now() >= terms.waitUntil && Date.now() < terms.giveUpAt)
        return waiting(run, verdict.record.token);
      const claimed = stored && (await takeOver(run, stored, verdict.record));
      return claimed && leadQuery(run, claimed);
    }
    case 'watch':
      join(run, verdict.record);
      if (Date.now() >= terms.giveUpAt) throw tookTooLong();
      if (Date.now() >= terms.waitUntil) return waiting(run, verdict.record.token);
      return watch(run, stored, verdict.record);
    case 'look-again':
      if (run.moves >= MAX_MOVES) throw dataKeepMoving();
      await lookAgain(run);
      return undefined;
    case 'deliver':
      return (await deliverFile(run, verdict.record)) ?? start(verdict.record.token);
    case 'refuse':
      return refuse(run, verdict.record);
  }
}

const factsOf = ({ follows, terms: { maxBytesScanned } }: Run): RequestFacts => ({
  isWaiting: follows !== undefined,
  maxBytesScanned,
  now: Date.now(),
  longestKeptMs: LONGEST_KEPT_MS,
});

function refuse({ note }: Run, record: Parameters<typeof refusalOf>[0]): never {
  note({ queryExecutionId: record.executionId, ...figuresOf(record) });
  throw refusalOf(record);
}

/** Waits for what becomes of a try that another request has claimed. */
function join(run: Run, record: OpenRecord): void {
  follow(run, record.token);
  run.cacheStatus ??= 'collapsed';
  if (record.state === 'under-way') run.note({ queryExecutionId: record.executionId });
}

/** Pauses before the request tries again to take a share. */
async function waitForShare(run: Run): Promise<Delivery | undefined> {
  const { terms, note } = run;
  run.waitsForShare = true;
  note({ waitsForShare: true });
  const now = Date.now();
  if (now >= terms.giveUpAt) throw shareStayedFull();
  if (now >= terms.waitUntil) return waiting({ ...run, cacheStatus: 'miss' }, undefined);
  const pauseMs = nextShareLookMs(terms.giveUpAt - now, Math.random());
  await delay(Math.min(pauseMs, terms.waitUntil - now, terms.giveUpAt - now));
  return undefined;
}

/** Looks at the record until it changes, nobody asks the engine any more, or the request must be answered. */
async function watch(
  { backends, order, data, terms }: Run,
  seen: StoredDocument | undefined,
  { askedUntil }: OpenRecord,
): Promise<undefined> {
  const began = Date.now();
  // Not all who wait take over at the same instant.
  const end = Math.min(askedUntil + Math.random() * TAKE_OVER_MS, terms.waitUntil, terms.giveUpAt);
  for (let now = began; now < end; now = Date.now()) {
    await delay(Math.min(nextRecordLookMs(now - began, Math.random()), end - now));
    const stored = await backends.results.read(recordKey(order, data));
    if (stored?.etag !== seen?.etag) return;
  }
}
