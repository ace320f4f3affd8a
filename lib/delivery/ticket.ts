import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { NoSuchDownload } from '../answers/problem.ts';
import { RESULTS_PREFIX } from '../names.ts';
import type { ResultsBucket, StoredDocument } from './results.ts';

/**
 * A report under way that somebody waits for: the request as it was sent and whose rows it may see, so that it can be
 * compiled anew when the data change. Whoever holds its id may have the report, as with a presigned URL. Times are
 * milliseconds since 1970.
 */
const ticket = v.object({
  /** Version of the ticket's format. A ticket of another version counts as absent. */
  form: v.literal(1),
  report: v.string(),
  parameters: v.record(v.string(), v.array(v.string())),
  /** The companies' ids in decimal digits: JSON has no integers of 64 bits. */
  companies: v.union([v.literal('every-company'), v.array(v.string())]),
  client: v.string(),
  progress: v.object({
    data: v.object({
      version: v.string(),
      trace: v.string(),
      listedAt: v.number(),
      isListed: v.boolean(),
    }),
    token: v.optional(v.string()),
    cacheStatus: v.picklist(['hit', 'miss', 'collapsed']),
    moves: v.number(),
  }),
  giveUpAt: v.number(),
  publishUntil: v.number(),
  expiresAt: v.number(),
});

export type Ticket = v.InferOutput<typeof ticket>;

/** A ticket as it was read. */
export interface StoredTicket {
  readonly id: string;
  readonly ticket: Ticket;
  readonly stored: StoredDocument;
}

const ID_BYTES = 32;
const ID = /^[A-Za-z0-9_-]{43}$/;

const keyOf = (id: string) => `${RESULTS_PREFIX.tickets}${id}.json`;

/** Stores a ticket under a new id that can't be guessed; resolves to the id. */
export async function issueTicket(results: ResultsBucket, issued: Ticket): Promise<string> {
  const id = randomBytes(ID_BYTES).toString('base64url');
  await results.create(keyOf(id), issued);
  return id;
}

/** Throws NoSuchDownload where there is no such ticket, or it has expired. */
export async function readTicket(results: ResultsBucket, id: string, now: number): Promise<StoredTicket> {
  const stored = ID.test(id) ? await results.read(keyOf(id)) : undefined;
  const parsed = v.safeParse(ticket, stored?.document);
  if (!stored || !parsed.success || parsed.output.expiresAt <= now) throw new NoSuchDownload();
  return { id, ticket: parsed.output, stored };
}

/**
 * Records how far the delivery has come since, and whose rows it is of. Of several requests with one ticket, the first
 * to write wins.
 */
export async function updateTicket(
  results: ResultsBucket,
  { id, ticket: was, stored }: StoredTicket,
  now: Pick<Ticket, 'progress' | 'companies'>,
): Promise<void> {
  const { progress, companies } = was;
  if (JSON.stringify([now.progress, now.companies]) === JSON.stringify([progress, companies])) return;
  await results.replace(stored, keyOf(id), { ...was, ...now });
}
