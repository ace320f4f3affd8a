import { randomUUID } from 'node:crypto';
import { tookTooLong } from './delivery.ts';
import type { Execution } from './execution.ts';
import { recordKey, tokenOf } from './order.ts';
import { type OpenRecord, readRecord } from './order-record.ts';
import type { ResultsBucket, StoredDocument } from './results.ts';
import { follow, type Run } from './run.ts';

/** A try that this request has started, or asks the engine about, for all who wait. */
export interface ClaimedTry {
  /** The record as it is stored, with the ETag that the next write must match. */
  readonly stored: StoredDocument;
  readonly record: OpenRecord;
}

/**
 * Athena remembers tokens for a time that it doesn't document. After so many tries of one request, the next one's token
 * is made of a random id, so that Athena can't answer it with an old execution.
 */
const MAX_REMEMBERED = 3;

/**
 * How many tries one request may start. If none of them left a result that can be read, something is broken. Whether a
 * failed query is tried again, `judge-execution.ts` decides.
 */
const MAX_TRIES = 6;

/**
 * Claims an order's next try before the engine is called: of many requests at one time, only one calls it.
 * Undefined where another request has been quicker.
 *
 * @param stored the order's record as it was read
 * @param after the token of the last try, which did not answer the order
 * @param startedFor the client that has taken a share for it
 */
export async function claimNext(
  run: Run,
  stored: StoredDocument | undefined,
  after: string | undefined,
  isRetry: boolean,
  startedFor: string | undefined = run.wanted.client,
): Promise<ClaimedTry | undefined> {
  const { data, order, terms } = run;
  if (Date.now() >= terms.giveUpAt) throw tookTooLong();
  if (run.starts >= MAX_TRIES) throw new Error(`none of ${MAX_TRIES} queries left a result`);
  const record: OpenRecord = {
    form: 1,
    state: 'starting',
    token: tokenOf(order, data.trace, run.starts >= MAX_REMEMBERED ? randomUUID() : after),
    trace: data.trace,
    askedUntil: terms.waitUntil,
    claim: randomUUID(),
    isRetry,
    startedFor,
  };
  const claimed = await write(run, stored, record);
  if (claimed) {
    run.starts += 1;
    run.cacheStatus = 'miss';
  }
  return claimed;
}

/** Claims a try that nobody asks the engine about any more. Undefined where another request has been quicker. */
export const takeOver = (
  run: Run,
  stored: StoredDocument,
  record: OpenRecord,
): Promise<ClaimedTry | undefined> =>
  write(run, stored, { ...record, askedUntil: run.terms.waitUntil, claim: randomUUID() });

async function write(
  run: Run,
  stored: StoredDocument | undefined,
  record: OpenRecord,
): Promise<ClaimedTry | undefined> {
  const { results } = run.backends;
  const key = recordKey(run.order, run.data);
  const written = await (stored ? results.replace(stored, key, record) : results.create(key, record));
  const mine = written ?? (await writtenAllTheSame(results, key, record));
  if (!mine) return undefined;
  follow(run, record.token);
  return { stored: mine, record };
}

/**
 * The stored record, if this request wrote it after all: S3 took the write, the answer was lost, and S3 refused the
 * repeated write.
 */
async function writtenAllTheSame(
  results: ResultsBucket,
  key: string,
  { claim }: OpenRecord,
): Promise<StoredDocument | undefined> {
  const stored = await results.read(key);
  const found = readRecord(stored);
  return found && 'claim' in found && found.claim === claim ? stored : undefined;
}

/**
 * Gives up this request's claim, so that another request may ask the engine at once.
 *
 * @param stored the record as this request wrote it last, with the execution if it has started one
 */
export async function release(run: Run, stored: StoredDocument): Promise<void> {
  const record = readRecord(stored);
  if (!record || !('claim' in record)) return;
  const released: OpenRecord = { ...record, askedUntil: 0 };
  await run.backends.results.replace(stored, recordKey(run.order, run.data), released);
}

/** By how much the engine's clock may run behind ours. */
const CLOCK_SKEW_MS = 1_000;

/**
 * Whether an execution had ended before this request's caller asked for the report: Athena gave an old execution for
 * the token, or everyone who waited for it had left. False if another request started it and it was cut off: a query of
 * this request's own would be cut off again.
 *
 * @param startedAt when this request started the execution; undefined where another one did
 */
export function isRemembered(
  { starts, followsSince }: Pick<Run, 'starts' | 'followsSince'>,
  execution: Execution,
  startedAt: number | undefined,
): boolean {
  if (starts > MAX_REMEMBERED || !('completedAt' in execution)) return false;
  const since = execution.state === 'cut-off' ? startedAt : followsSince;
  return since !== undefined && execution.completedAt < since - CLOCK_SKEW_MS;
}
