import { setTimeout as delay } from 'node:timers/promises';
import { REPORT_KEPT_DAYS } from '../names.ts';
import { claimNext, takeOver } from './claim-try.ts';
import { deliverFile } from './deliver-file.ts';
import {
  type Delivery,
  type DeliveryFacts,
  type DeliveryParts,
  type DeliveryTerms,
  dataKeepMoving,
  type Progress,
  tookTooLong,
  type Wanted,
} from './delivery.ts';
import { judgeRecord } from './judge-record.ts';
import { leadQuery } from './lead-query.ts';
import { recordKey } from './order.ts';
import { type OpenRecord, readRecord } from './order-record.ts';
import { nextRecordLookMs } from './pace.ts';
import { figuresOf, refusalOf } from './record-end.ts';
import type { StoredDocument } from './results.ts';
import { beginRun, follow, lookAgain, type Run, waiting } from './run.ts';

/** A file is not given out on the last day that it is kept, so that no link outlives its file. */
export const LONGEST_KEPT_MS = (REPORT_KEPT_DAYS - 1) * 86_400_000;

/** How often a request looks at the lake again because files changed under its query. */
const MOST_MOVES = 3;

/**
 * Sees to it that a report is there, as far as that can be done by the time at which the request must be answered
 * (contract 4.2): from the copy of this version of the data, else by a query that is joined or started. Throws
 * ReportTooLarge, Unavailable, QueryFailed or PublicationFailed.
 *
 * @param note takes what is learnt on the way
 * @param left what an earlier request of the same caller left, if there was one
 */
export async function deliverReport(
  parts: DeliveryParts,
  wanted: Wanted,
  terms: DeliveryTerms,
  note: (facts: DeliveryFacts) => void,
  left?: Progress,
): Promise<Delivery> {
  const run = await beginRun(parts, wanted, terms, note, left);
  for (;;) {
    const stored = await parts.results.read(recordKey(run.order));
    const delivery = await actOn(run, stored);
    if (delivery) return delivery;
  }
}

/** Does what the order's record calls for. Undefined where the record is to be read again. */
async function actOn(run: Run, stored: StoredDocument | undefined): Promise<Delivery | undefined> {
  const { terms, note } = run;
  const verdict = judgeRecord(readRecord(stored), {
    follows: run.follows,
    trace: run.data.trace,
    maxBytesScanned: terms.maxBytesScanned,
    now: Date.now(),
    longestKeptMs: LONGEST_KEPT_MS,
  });
  const start = async (after: string | undefined) => {
    const claimed = await claimNext(run, stored, after, false);
    return claimed && leadQuery(run, claimed);
  };
  switch (verdict.next) {
    case 'start':
      return start(verdict.after);
    case 'ask': {
      join(run, verdict.record);
      const claimed = stored && (await takeOver(run, stored, verdict.record));
      return claimed && leadQuery(run, claimed);
    }
    case 'watch':
      join(run, verdict.record);
      if (Date.now() >= terms.giveUpAt) throw tookTooLong();
      if (Date.now() >= terms.waitUntil) return waiting(run, verdict.record.token);
      return watch(run, stored, verdict.record);
    case 'look-again':
      if (run.moves >= MOST_MOVES) throw dataKeepMoving();
      await lookAgain(run);
      return undefined;
    case 'deliver':
      return (await deliverFile(run, verdict.record)) ?? start(verdict.record.token);
    case 'refuse':
      note({ queryExecutionId: verdict.record.executionId, ...figuresOf(verdict.record) });
      throw refusalOf(verdict.record);
  }
}

/** Waits for what becomes of a try that another request has claimed. */
function join(run: Run, record: OpenRecord): void {
  follow(run, record.token);
  run.cacheStatus ??= 'collapsed';
  if (record.state === 'under-way') run.note({ queryExecutionId: record.executionId });
}

/** Looks at the record until it changes, nobody asks the engine any more, or the request must be answered. */
async function watch(
  { parts, order, terms }: Run,
  seen: StoredDocument | undefined,
  { askedUntil }: OpenRecord,
): Promise<undefined> {
  const began = Date.now();
  const end = Math.min(askedUntil, terms.waitUntil, terms.giveUpAt);
  for (let now = began; now < end; now = Date.now()) {
    await delay(Math.min(nextRecordLookMs(now - began, Math.random()), end - now));
    const stored = await parts.results.read(recordKey(order));
    if (stored?.etag !== seen?.etag) return;
  }
}
