import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { readRecord } from '../results/job-record.ts';
import { jobRecordKey, resultKey, slotsKey } from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import { readSlots, type Slot, type SlotsDocument } from '../results/slots-document.ts';
import { leaseLeftMs } from './judge-record.ts';
import { isUnderWay, judgeSlot } from './judge-slot.ts';
import type { Run, Target } from './phase.ts';

/** The longest random pause before a request tries again because another request wrote first. */
const LONGEST_PAUSE_MS = 100;

/** Permission to start a query; `slot` is absent if clients have no limit. */
export type SlotGrant = { readonly slot?: string };

/**
 * Takes a slot for an attempt, before the attempt is created. Resolves to undefined if the client has no free slot.
 *
 * @param read the client's slots; undefined if this function must read them
 * @param latest the record of the job as it was read
 */
export async function takeSlot(
  run: Run,
  { job, data }: Target,
  read: Promise<StoredDocument | undefined> | undefined,
  latest: StoredDocument | undefined,
): Promise<SlotGrant | undefined> {
  const { backends, wanted, terms } = run;
  const count = terms.queriesPerPartner;
  if (count === undefined) return {};
  const { results } = backends;
  const key = slotsKey(wanted.client);
  const limits = { count, longestMs: terms.longestQueueMs + terms.longestQueryMs };
  const wantedSlot: Slot = { id: randomUUID(), record: jobRecordKey(job, data), heldMs: 0 };
  for (let stored = await (read ?? results.read(key)); ; stored = await results.read(key)) {
    const held = readSlots(stored);
    const record = readRecord(latest);
    let verdict = judgeSlot(held, wantedSlot, record, limits);
    // The records of the slots are read only if the client seems to have no free slot: below the limit, these reads are
    // not needed.
    if (verdict.next === 'wait')
      verdict = judgeSlot(await slotsUnderWay(run, held), wantedSlot, record, limits);
    if (verdict.next === 'wait') return undefined;
    if (verdict.next === 'share') return { slot: verdict.slot.id };
    const document: SlotsDocument = { form: 2, slots: [...verdict.others, verdict.slot] };
    const written = stored
      ? await results.replace(stored, key, document)
      : await results.create(key, document);
    if (written) return { slot: verdict.slot.id };
    // Another request of the client wrote first. If no time is left to try again, the caller waits for a slot.
    if (Date.now() >= terms.waitUntil) return undefined;
    await delay(Math.random() * LONGEST_PAUSE_MS);
  }
}

/** A client's slots whose queries have not ended. */
async function slotsUnderWay({ backends: { results } }: Run, held: readonly Slot[]): Promise<Slot[]> {
  const areUnderWay = await Promise.all(
    held.map(async (slot) => {
      const stored = await results.read(slot.record);
      const record = readRecord(stored);
      if (!isUnderWay(slot, record, stored?.ageMs ?? 0)) return false;
      // The slot's attempt is not created or not started yet, so there is no result to look for.
      if (record?.state !== 'under-way' || record.slot !== slot.id) return true;
      // After the lease has ended, perhaps no request is left that records the query's end. If the result exists, the
      // query has ended.
      const isLeft = leaseLeftMs(record, stored?.ageMs ?? 0) <= 0;
      return !(isLeft && (await results.head(resultKey(record.executionId))));
    }),
  );
  return held.filter((_, index) => areUnderWay[index]);
}
