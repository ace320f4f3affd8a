import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { leaseLeftMs } from './job-record.ts';
import { type ResultsKey, resultKey, resultsKey, slotsKey } from './keys.ts';
import type { ResultsBucket, StoredDocument } from './results-bucket.ts';

const slot = v.object({
  /** A random id. The job's record holds it too as soon as the slot's attempt is created. */
  id: v.string(),
  /** Key of the job's record, which says whether the query is under way. */
  record: resultsKey,
  /** How long the slot had been held when the document was written, in milliseconds. */
  heldMs: v.number(),
});

/** What a slot must know of its job's record. The record may be of the release before. */
const slotRecord = v.object({
  state: v.string(),
  slot: v.optional(v.string()),
  leaseMs: v.optional(v.number()),
  executionId: v.optional(v.string()),
});
type SlotRecord = v.InferOutput<typeof slotRecord>;

const slotsDocument = v.object({
  /** Version of the document's format. A document of another version counts as absent. */
  form: v.literal(2),
  slots: v.array(slot),
});

/** A slot: a query that counts against its client's limit, even before its attempt is created. */
export type Slot = v.InferOutput<typeof slot>;

/** A client's slots, with `heldMs` as of now; empty if the document can't be read. */
export function readSlots(stored: StoredDocument | undefined): readonly Slot[] {
  const result = v.safeParse(slotsDocument, stored?.document);
  if (!stored || !result.success) return [];
  return result.output.slots.map((slot) => ({ ...slot, heldMs: slot.heldMs + stored.ageMs }));
}

/**
 * Whether one more query may be started for a client: the id of the slot for it, and the client's slots to write;
 * undefined if the client must wait. Nothing is to be written if another request has taken the slot for this job's next
 * query, and has not created the attempt yet: then both share it.
 * @param latest the record of the wanted slot's job; undefined if there is none
 */
export function judgeSlot(
  slots: readonly Slot[],
  wanted: Slot,
  latest: SlotRecord | undefined,
  { count, longestMs }: { readonly count: number; readonly longestMs: number },
): { readonly id: string; readonly slots?: Slot[] } | undefined {
  const live = slots.filter(({ heldMs }) => heldMs < longestMs);
  const shared = live.find((slot) => slot.record === wanted.record && isWithoutAttempt(slot, latest));
  if (shared) return { id: shared.id };
  // A job has at most one query under way, so the query of the job's earlier slot has ended.
  const others = live.filter(({ record }) => record !== wanted.record);
  if (others.length >= count) return undefined;
  // If another request takes over an attempt that is still `starting`, the slot keeps its id: the request that created
  // the attempt may still start the query, and then writes this id into the record.
  const isStarting = latest?.state === 'starting';
  const created = live.find(({ id, record }) => isStarting && record === wanted.record && latest.slot === id);
  const { id } = created ?? wanted;
  return { id, slots: [...others, { ...wanted, id }] };
}

/** How long a slot without an attempt counts as taken. No request lives longer, so none creates it after that. */
const MAX_UNCLAIMED_MS = 30_000;

/** How long the slot of a `starting` attempt counts as taken after its lease: perhaps Athena has started the query. */
const START_MS = 60_000;

const isWithoutAttempt = ({ id, heldMs }: Slot, record: SlotRecord | undefined): boolean =>
  record?.slot !== id && heldMs < MAX_UNCLAIMED_MS;

/**
 * Whether the query of a slot is under way, or may soon be started.
 * @param record the record of the slot's job, written `ageMs` ago; undefined if there is none
 */
export function isUnderWay(slot: Slot, record: SlotRecord | undefined, ageMs: number): boolean {
  if (isWithoutAttempt(slot, record)) return true;
  if (!record || !/^(starting|under-way)$/.test(record.state) || record.slot !== slot.id) return false;
  // Who takes over an attempt that was not started in time takes a slot first.
  return (
    record.state !== 'starting' || slot.heldMs < MAX_UNCLAIMED_MS || ageMs < (record.leaseMs ?? 0) + START_MS
  );
}

/** The longest random pause before a request tries again because another request wrote first. */
const LONGEST_PAUSE_MS = 100;

/**
 * Takes a slot for a job's next query, before its attempt is created. Resolves to the slot's id; to undefined if the
 * client has no free slot.
 * @param job the key of the job's record, and the record as it was read
 * @param limits `count`: a client's slots; `longestMs`: the longest time that a slot can be held; `until`: the last try
 * @param read the client's slots; undefined if this function must read them
 * @param hasEnded asks Athena whether an execution has ended; undefined if Athena is not to be asked this time
 */
export async function takeSlot(
  results: ResultsBucket,
  client: string,
  job: { readonly key: ResultsKey; readonly latest: SlotRecord | undefined },
  limits: { readonly count: number; readonly longestMs: number; readonly until: number },
  read?: Promise<StoredDocument | undefined>,
  hasEnded?: (executionId: string) => Promise<boolean>,
): Promise<string | undefined> {
  const wanted: Slot = { id: randomUUID(), record: job.key, heldMs: 0 };
  const key = slotsKey(client);
  for (let stored = await (read ?? results.read(key)); ; stored = await results.read(key)) {
    const slots = readSlots(stored);
    // The records of the slots are read only if the client seems to have no free slot.
    const taken =
      judgeSlot(slots, wanted, job.latest, limits) ??
      judgeSlot(await slotsUnderWay(results, slots, hasEnded), wanted, job.latest, limits);
    if (!taken?.slots) return taken?.id;
    const next = { form: 2, slots: taken.slots } satisfies v.InferInput<typeof slotsDocument>;
    if (await (stored ? results.replace(stored, key, next) : results.create(key, next))) return taken.id;
    // Another request of the client wrote first. If no time is left to try again, the caller waits for a slot.
    if (Date.now() >= limits.until) return undefined;
    await delay(Math.random() * LONGEST_PAUSE_MS);
  }
}

async function slotsUnderWay(
  results: ResultsBucket,
  slots: readonly Slot[],
  hasEnded: (executionId: string) => Promise<boolean> = async () => false,
): Promise<Slot[]> {
  const areUnderWay = await Promise.all(
    slots.map(async (slot) => {
      const stored = await results.read(slot.record);
      const parsed = v.safeParse(slotRecord, stored?.document);
      const record = parsed.success ? parsed.output : undefined;
      if (!isUnderWay(slot, record, stored?.ageMs ?? 0)) return false;
      // Not created or not started yet: there is no result to look for.
      if (record?.state !== 'under-way' || record.slot !== slot.id || !record.executionId) return true;
      // After the lease, perhaps no request is left to record the query's end. A result tells that it ended. A failed
      // query has none, and a reused result lies elsewhere: only Athena knows these ends.
      if (leaseLeftMs(record, stored?.ageMs ?? 0) > 0) return true;
      const { executionId } = record;
      return !((await results.head(resultKey(executionId))) || (await hasEnded(executionId)));
    }),
  );
  return slots.filter((_, index) => areUnderWay[index]);
}
