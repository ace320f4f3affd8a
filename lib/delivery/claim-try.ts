import { randomUUID } from 'node:crypto';
import { tookTooLong } from './delivery.ts';
import type { Execution } from './execution.ts';
import { recordKey, tokenOf } from './order.ts';
import { type OpenRecord, readRecord } from './order-record.ts';
import type { ResultsBucket, StoredDocument } from './results.ts';
import { follow, type Run } from './run.ts';

/** A try that this request has started, or asks the engine about, for all who wait. */
export interface ClaimedTry {
  /** The record that says so. */
  readonly stored: StoredDocument;
  readonly record: OpenRecord;
}

/** Athena remembers tokens for a time that it doesn't document. After so many tries of one request, a token is new. */
const MOST_REMEMBERED = 3;

/** So many tries without a result that can be read are no accident. */
const MOST_TRIES = 6;

/**
 * Claims an order's next try, before the engine is called: of many requests that come at one time, one calls it.
 * Undefined where another request has been quicker.
 *
 * @param stored what was read of the order
 * @param after the token of the try that does not answer it
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
  if (run.starts >= MOST_TRIES) throw new Error(`none of ${MOST_TRIES} queries left a result`);
  const record: OpenRecord = {
    form: 1,
    state: 'starting',
    token: tokenOf(order, data.trace, run.starts >= MOST_REMEMBERED ? randomUUID() : after),
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

/** The record, where it was written by a call whose answer was lost, so that its repetition was refused. */
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
 * Lets another request ask the engine at once: this one can't.
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
 * Whether an execution had ended before this request's caller asked for it: the engine remembered its token, or whoever
 * waited for it has left. A cut-off of another request's query answers this one too: its own would be cut off again.
 *
 * @param startedAt when this request asked for it; undefined where another one did
 */
export function isRemembered(
  { starts, followsSince }: Pick<Run, 'starts' | 'followsSince'>,
  execution: Execution,
  startedAt: number | undefined,
): boolean {
  if (starts > MOST_REMEMBERED || !('completedAt' in execution)) return false;
  const since = execution.state === 'cut-off' ? startedAt : followsSince;
  return since !== undefined && execution.completedAt < since - CLOCK_SKEW_MS;
}
