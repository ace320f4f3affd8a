import * as v from 'valibot';
import { resultsKey } from './keys.ts';
import type { StoredDocument } from './results-bucket.ts';

const slot = v.object({
  /** A random id. The job's record holds it too as soon as the slot's attempt is created. */
  id: v.string(),
  /** Key of the job's record, which says whether the query is under way. */
  record: resultsKey,
  /** How long the slot had been held when the document was written, in milliseconds. */
  heldMs: v.number(),
});

const slotsDocument = v.object({
  /** Version of the document's format. A document of another version counts as absent. */
  form: v.literal(2),
  slots: v.array(slot),
});

/** A slot: a query that counts against its client's limit, even before its attempt is created. */
export type Slot = v.InferOutput<typeof slot>;
export type SlotsDocument = v.InferOutput<typeof slotsDocument>;

/** A client's slots, with `heldMs` as of now; empty if the document can't be read. */
export function readSlots(stored: StoredDocument | undefined): readonly Slot[] {
  const result = v.safeParse(slotsDocument, stored?.document);
  if (!stored || !result.success) return [];
  return result.output.slots.map((held) => ({ ...held, heldMs: held.heldMs + stored.ageMs }));
}
