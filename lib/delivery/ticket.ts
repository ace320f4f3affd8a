import { randomBytes } from 'node:crypto';
import { NoSuchDownload } from '../answers/problem.ts';
import type { ResultsBucket } from '../aws/results-bucket.ts';
import { RESULTS_PREFIX } from '../names.ts';
import type { Progress } from './deliver-report.ts';
import type { ReportOrder } from './report-order.ts';

/** A claim on a report under way. Whoever holds its id may have the report, as with a presigned URL. */
export interface Ticket {
  readonly report: string;
  readonly order: ReportOrder;
  readonly progress: Progress;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

const ID_BYTES = 32;
const ID = /^[A-Za-z0-9_-]{43}$/;

const keyOf = (id: string) => `${RESULTS_PREFIX.tickets}${id}.json`;

/** Stores a ticket under a new id that can't be guessed; resolves to the id. */
export async function issueTicket(results: ResultsBucket, ticket: Ticket): Promise<string> {
  const id = randomBytes(ID_BYTES).toString('base64url');
  await results.write(keyOf(id), ticket);
  return id;
}

/** Throws NoSuchDownload where there is no such ticket, or it has expired. */
export async function readTicket(results: ResultsBucket, id: string): Promise<Ticket> {
  const ticket = ID.test(id) ? ((await results.read(keyOf(id)))?.document as Ticket | undefined) : undefined;
  if (!ticket || ticket.expiresAt <= Date.now()) throw new NoSuchDownload();
  return ticket;
}

/** Records how far the delivery has come since. */
export const updateTicket = (results: ResultsBucket, id: string, ticket: Ticket): Promise<void> =>
  results.write(keyOf(id), ticket);
