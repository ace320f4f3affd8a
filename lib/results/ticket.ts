import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { EMPTY_REASONS } from '../lake/empty-reason.ts';
import { InvalidRequest, NoSuchDownload } from '../problems/problem.ts';
import { reportOf } from '../report/catalogue.ts';
import { type Entitlement, entitlementTo, isCompanyId, storedEntitlement } from '../report/entitlement.ts';
import { parseRequest, type ReportRequest } from '../report/parse-request.ts';
import { ticketKey } from './keys.ts';
import type { ResultsBucket, StoredDocument } from './results-bucket.ts';

/** The data that the job's attempts read: a `DataState` without `listedAt`, which is by another machine's clock. */
const data = v.object({
  version: v.string(),
  fingerprint: v.string(),
  isListed: v.boolean(),
  /** Why the report has no rows, if it has none. Release 1.0.0 writes no reason. */
  whyEmpty: v.exactOptional(v.picklist(EMPTY_REASONS)),
});

/** That the caller has waited for an attempt; release 1.0.0 tells here whether the attempt was its own (`miss`). */
const cacheStatus = v.picklist(['miss', 'collapsed']);

/** Members of every kind of progress. */
const every = {
  /** How often the report was started again because files changed during its query. */
  dataChanges: v.number(),
  /** Token of the last attempt that was created for this caller. Release 1.0.0 writes none. */
  attempt: v.optional(v.string()),
};

const progress = v.variant('waitsFor', [
  v.object({
    waitsFor: v.literal('slot'),
    ...every,
    /** Present if the caller has waited for an attempt before. */
    cacheStatus: v.optional(cacheStatus),
  }),
  v.object({ waitsFor: v.literal('attempt'), ...every, data, cacheStatus }),
]);

/**
 * The stored document for a caller that waits for a report. It holds the request as it was sent and the companies whose
 * rows the caller may see, so that the request can be compiled again when the data change. Anyone who has the ticket's
 * id may have the report, as with a presigned URL.
 */
const ticketDocument = v.object({
  /** Version of the ticket's format. A ticket of another version counts as absent. */
  form: v.literal(2),
  report: v.string(),
  parameters: v.record(v.string(), v.array(v.string())),
  /** The companies' ids in decimal digits: JSON has no integers of 64 bits. */
  companies: v.union([v.literal('every-company'), v.array(v.pipe(v.string(), v.check(isCompanyId)))]),
  client: v.string(),
  progress,
  /** How long the caller had waited when the ticket was written, in milliseconds. */
  waitedMs: v.number(),
  /** How long it had had these companies: less, if they changed while it waited. Release 1.0.0 does not say. */
  entitledMs: v.exactOptional(v.number()),
});

/** How far a report has come: a request stores it for its caller's next request. */
export type Progress = Readonly<v.InferOutput<typeof progress>>;

type Ticket = v.InferOutput<typeof ticketDocument>;

/** What a request stores for its caller's next one. */
export type Handover = Readonly<Required<Pick<Ticket, 'progress' | 'waitedMs' | 'entitledMs'>>>;

/** A ticket, with its request parsed again. */
export interface WaitingRequest {
  readonly id: string;
  readonly request: ReportRequest;
  readonly entitlement: Entitlement;
  /** How long the ticket's caller has waited, and for how long it has had its companies, in milliseconds. */
  readonly waitedMs: number;
  readonly entitledMs: number;
  /** The stored document, which `updateTicket` replaces. */
  readonly stored: StoredDocument;
  readonly ticket: Ticket;
}

/** 32 random bytes in base64url. */
const ID = /^[A-Za-z0-9_-]{43}$/;

/** Stores a ticket, with the parameters as they were sent, under a new id that can't be guessed. Resolves to the id. */
export async function issueTicket(
  results: ResultsBucket,
  { request, entitlement, client }: Pick<WaitingRequest, 'request' | 'entitlement'> & { client: string },
  parameters: Readonly<Record<string, string[]>>,
  handover: Handover,
): Promise<string> {
  const id = randomBytes(32).toString('base64url');
  const issued: Ticket = {
    form: 2,
    report: request.report.name,
    parameters,
    companies: storedEntitlement(entitlement),
    client,
    ...handover,
  };
  await results.create(ticketKey(id), issued);
  return id;
}

/** Reads a ticket and parses its request. Throws NoSuchDownload if there is none that this release can use. */
export async function openTicket(results: ResultsBucket, id: string): Promise<WaitingRequest> {
  const stored = ID.test(id) ? await results.read(ticketKey(id)) : undefined;
  const parsed = v.safeParse(ticketDocument, stored?.document);
  if (!stored || !parsed.success) throw new NoSuchDownload();
  const ticket = parsed.output;
  const { companies, parameters } = ticket;
  const report = reportOf(ticket.report);
  const entitlement = companies === 'every-company' ? companies : entitlementTo(companies.map(BigInt));
  if (!report || !entitlement) throw new NoSuchDownload();
  try {
    // The Accept header was checked by the request that got the ticket.
    const request = parseRequest(report, { parameters, accept: undefined });
    const waitedMs = ticket.waitedMs + stored.ageMs;
    const entitledMs = (ticket.entitledMs ?? ticket.waitedMs) + stored.ageMs;
    return { id, request, entitlement, waitedMs, entitledMs, stored, ticket };
  } catch (error) {
    // Another release accepted this request. Here, a 400 would be about a request that the caller did not send.
    if (error instanceof InvalidRequest) throw new NoSuchDownload();
    throw error;
  }
}

/** Records the progress, and whose rows the caller may see now. If several requests use one ticket, the first wins. */
export async function updateTicket(
  results: ResultsBucket,
  { id, ticket: was, stored }: WaitingRequest,
  entitlement: Entitlement,
  handover: Handover,
): Promise<void> {
  const companies = storedEntitlement(entitlement);
  if (isDeepStrictEqual([handover.progress, companies], [was.progress, was.companies])) return;
  const now: Ticket = { ...was, ...handover, companies };
  await results.replace(stored, ticketKey(id), now);
}
