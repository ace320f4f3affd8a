import { randomUUID } from 'node:crypto';
import { type JobRecord, type OpenRecord, readRecord, type StoredRecord } from '../results/job-record.ts';
import { jobRecordKey } from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import type { DeliveryFacts } from './delivery.ts';
import type { EndedExecution } from './execution.ts';
import type { Following, Leading, Phase, Run, Target } from './phase.ts';

/** The most attempts that follow each other. If none of them left a readable result, the service has a fault. */
export const MAX_ATTEMPTS = 6;

/**
 * Writes a job's record, unless another request has changed it since it was read. Resolves to `mine` if this request's
 * record is stored, or to `theirs` with the document that is stored instead.
 *
 * @param was the record as it was read; undefined if there was none
 */
export async function writeRecord<T extends JobRecord>(
  { backends: { results } }: Run,
  { job, data }: Target,
  was: StoredDocument | undefined,
  record: T,
): Promise<{ readonly mine: StoredRecord<T> } | { readonly theirs: StoredDocument | undefined }> {
  const key = jobRecordKey(job, data);
  const written = await (was ? results.replace(was, key, record) : results.create(key, record));
  if (written) return { mine: { stored: written, record } };
  // Perhaps S3 stored the first write, but the answer was lost, and S3 then refused the repeated write.
  const stored = await results.read(key);
  return stored && readRecord(stored)?.writer === record.writer
    ? { mine: { stored, record } }
    : { theirs: stored };
}

/** Members of each record that a request writes. By the random id `writer`, the request recognises its own write. */
export const signed = () => ({ form: 2, writer: randomUUID() }) as const;

/** The lease: how long this request asks Athena about the query, for all the requests that wait. */
export const leaseOf = ({ terms }: Run) => ({ leaseMs: Math.max(0, terms.waitUntil - Date.now()) });

/** The properties of a new attempt. */
export interface NewAttempt {
  readonly isRetry?: boolean;
  /** How many attempts have followed each other, this one included. */
  readonly attempts?: number;
  readonly slot?: string | undefined;
  /** The previous attempt's execution, if this request is to count it in the metrics. */
  readonly ended?: CountedExecution | undefined;
  /**
   * An attempt that another request created and may have started. Starting it again with its token gives the same
   * execution.
   */
  readonly left?: Pick<Following, 'cacheStatus'> & Pick<OpenRecord, 'attempt'>;
}

/**
 * Creates a job's next attempt before Athena is called, so that only one of many concurrent requests calls Athena. If
 * another request has created an attempt first, follows that attempt.
 *
 * @param was the record of the previous attempt; undefined if there was none
 */
export async function createAttempt(
  run: Run,
  target: Target,
  was: StoredDocument | undefined,
  { isRetry = false, attempts = 1, slot, ended, left }: NewAttempt,
): Promise<Phase> {
  if (attempts > MAX_ATTEMPTS) throw new Error(`none of ${MAX_ATTEMPTS} queries left a result`);
  const attempt = left?.attempt ?? randomUUID();
  const follows = readRecord(was)?.writer;
  const outcome = await writeRecord<OpenRecord>(run, target, was, {
    ...signed(),
    state: 'starting',
    attempt,
    ...(follows !== undefined && { follows }),
    ...leaseOf(run),
    isRetry,
    attempts,
    ...(slot !== undefined && { slot }),
  });
  // Perhaps another request has already taken the new attempt over.
  const isStored = 'mine' in outcome || readRecord(outcome.theirs)?.attempt === attempt;
  if (ended && isStored) run.note({ finishedQueries: [finishedQuery(ended)] });
  if ('theirs' in outcome) return following(target, outcome.theirs);
  const cacheStatus = left?.cacheStatus ?? 'miss';
  return { at: 'leading', target, held: outcome.mine, cacheStatus, isCreator: true };
}

/**
 * Takes over an attempt that no request asks Athena about any more. If another request has taken it over first, this
 * request only follows the attempt.
 */
export async function takeOver(
  run: Run,
  target: Target,
  was: StoredDocument | undefined,
  record: OpenRecord,
  cacheStatus: Leading['cacheStatus'],
): Promise<Phase> {
  const outcome = await writeRecord<OpenRecord>(run, target, was, {
    ...withElapsed(record, was?.ageMs ?? 0),
    ...signed(),
    ...leaseOf(run),
  });
  if ('theirs' in outcome) return following(target, outcome.theirs, cacheStatus);
  return { at: 'leading', target, held: outcome.mine, cacheStatus, isCreator: false };
}

/** The phase of a request that has found this document: `following`; if it holds no readable record, `arrived`. */
export function following(
  target: Target,
  seen: StoredDocument | undefined,
  cacheStatus: Following['cacheStatus'] = 'collapsed',
): Phase {
  const phase = { at: 'following', target, cacheStatus } as const;
  return readRecord(seen)
    ? { ...phase, seen }
    : { at: 'arrived', target, waitsForSlot: false, waited: phase };
}

/**
 * Gives up the lease of an attempt, so that another request may take over the attempt at once. Resolves to undefined if
 * another request has already changed the record.
 *
 * @param known what this request knows about the execution
 */
export async function release(
  run: Run,
  target: Target,
  { stored, record }: StoredRecord<OpenRecord>,
  known: {
    readonly elapsedMs?: number;
    readonly runningAt?: number | undefined;
    readonly hasRun?: boolean;
    readonly isStopped?: boolean;
  } = {},
): Promise<StoredRecord<OpenRecord> | undefined> {
  const { leaseMs: _, ...free } = record;
  const isUnderWay = record.state === 'under-way';
  const left = { ...free, ...signed(), ...(isUnderWay && known) };
  const outcome = await writeRecord<OpenRecord>(run, target, stored, left);
  return 'mine' in outcome ? outcome.mine : undefined;
}

/** An open record. If the query is under way, `ms` is added to the time that Athena has had the query. */
const withElapsed = (record: OpenRecord, ms: number): OpenRecord =>
  record.state === 'under-way' ? { ...record, elapsedMs: record.elapsedMs + ms } : record;

/** The facts about an ended or stopped execution that the metrics count. */
export type CountedExecution = Pick<EndedExecution, 'state' | 'bytesScanned' | 'submittedAt' | 'completedAt'>;

/** An execution's end, for the metrics. */
export const finishedQuery = ({ state, bytesScanned, submittedAt, completedAt }: CountedExecution) => ({
  state,
  bytesScanned,
  queryMs: completedAt - submittedAt,
});

/** The facts about an ended execution for the log. */
export const endFacts = ({
  submittedAt,
  completedAt,
  bytesScanned,
  engineMs,
}: Pick<EndedExecution, 'submittedAt' | 'completedAt' | 'bytesScanned' | 'engineMs'>): DeliveryFacts => ({
  bytesScanned,
  engineMs,
  queryMs: completedAt - submittedAt,
});
