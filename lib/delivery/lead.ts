/** The work of the request that holds the lease of an attempt: it asks Athena for all who wait, from start to end. */
import { randomUUID } from 'node:crypto';
import { begun } from '../begun.ts';
import { type JobRecord, type OpenRecord, type RecordIn, readRecord } from '../results/job-record.ts';
import { jobRecordKey, resultKey } from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import type { Decision } from './decide.ts';
import type { DeliveryFacts, Run, Target } from './delivery.ts';
import { type EarlyReads, endOf, stateNow } from './end.ts';
import { type EndedExecution, limitLeftMs } from './execution.ts';
import { MAX_SMALL_BYTES } from './files.ts';
import { watchExecution } from './watch.ts';

/** A record as this request wrote it. */
interface Held<T extends JobRecord = OpenRecord> {
  readonly stored: StoredDocument;
  readonly record: T;
}

/** The attempt that a request starts or takes over, and its slot. */
interface WantedAttempt {
  readonly decision: Extract<Decision, { next: 'start' | 'take-over' }>;
  readonly slot: string | undefined;
}

/**
 * Creates or takes over an attempt, before Athena is called, so that only one of many concurrent requests calls Athena.
 * Then asks Athena until the query ends, and records the end. Resolves to the record as it is stored then, to undefined
 * if it must be read, or to `time-is-up` if the request must answer first. On an error, gives up the lease, so that
 * another may ask at once.
 *
 * @param was the record as it was read
 * @param onHeld called with the attempt's token as soon as this request holds the lease
 */
export async function leadAttempt(
  run: Run,
  target: Target,
  was: StoredDocument | undefined,
  wanted: WantedAttempt,
  onHeld: (token: string) => void,
): Promise<StoredDocument | 'time-is-up' | undefined> {
  const first = await save(run, target, was, openRecord(run, target, was, wanted));
  if ('theirs' in first) return first.theirs;
  onHeld(first.mine.record.attempt);
  let held: Promise<Held | undefined> = Promise.resolve(first.mine);
  let latest: Held = first.mine;
  let known: Known = {};
  try {
    let { record } = latest;
    if (record.state === 'starting') {
      let executionId = await start(run, target, record);
      if (executionId === undefined) {
        // The token belongs to another query, so this attempt takes a new one.
        const renewed = { ...record, ...signed(), attempt: randomUUID() };
        const outcome = await save<OpenRecord>(run, target, latest.stored, renewed);
        if ('theirs' in outcome) return outcome.theirs;
        latest = outcome.mine;
        held = Promise.resolve(latest);
        onHeld(renewed.attempt);
        executionId = await start(run, target, renewed);
      }
      if (executionId === undefined) throw new Error('Athena knows the token of a new attempt');
      record = {
        ...latest.record,
        ...signed(),
        ...leaseOf(run),
        state: 'under-way',
        executionId,
        elapsedMs: 0,
      };
      // The record is written while the query runs. If the write fails, the code that awaits it gets the error.
      const { stored } = latest;
      held = begun(
        save<OpenRecord>(run, target, stored, record).then((outcome) =>
          'mine' in outcome ? outcome.mine : undefined,
        ),
      );
    }
    const { executionId, elapsedMs, runningAt, hasRun = false } = record;
    run.note({ queryExecutionId: executionId });
    const isTakenOver = wanted.decision.next === 'take-over';
    const execution = { id: executionId, elapsedMs, runningAt, hasRun, isTakenOver };
    const seen = await watchExecution(run.backends, execution, run.terms, () =>
      readEarly(run, target, executionId),
    );
    const answeredAt = Date.now();
    known = { runningAt: seen.runningAt, ...(seen.hasRun && { hasRun: true }), elapsedMs: seen.elapsedMs };
    const mine = await held;
    if (!mine) return undefined;
    latest = mine;
    const { execution: now } = seen;
    if (now?.state === 'under-way' && limitLeftMs(now, { ...run.terms, ...seen }) <= 0) {
      // Athena may throttle the next call for longer than the lease lasts. Who takes over must know the running time.
      const free = await release(run, target, mine, { ...known, isStopped: true });
      held = Promise.resolve(undefined);
      await run.backends.queries.stop(now.id);
      if (!free) return undefined;
      latest = free;
    } else if (!now || now.state === 'under-way') {
      held = Promise.resolve(undefined);
      await release(run, target, mine, known).catch(() => {});
      return 'time-is-up';
    }
    const ended = { ...record, ...(latest.record as RecordIn<'under-way'>), runningAt: seen.runningAt };
    const end = await endOf(run, target, ended, now, seen.begun, answeredAt);
    if (end === 'late') {
      await release(run, target, latest, {}).catch(() => {});
      return 'time-is-up';
    }
    if (end.counted) run.note(endFacts(end.counted));
    const outcome = await save<JobRecord>(run, target, latest.stored, end.record);
    held = Promise.resolve(undefined);
    // The request that records the end counts the query, so that each query is counted once. Perhaps another attempt
    // has already taken the place of the record.
    const isStored = 'mine' in outcome || readRecord(outcome.theirs)?.follows === end.record.writer;
    if (isStored && end.counted) run.note({ finishedQueries: [finishedQuery(end.counted)] });
    return 'mine' in outcome ? outcome.mine.stored : outcome.theirs;
  } catch (error) {
    // If the write of the start failed, perhaps the record before it is still there.
    const mine = await held.catch(() => latest);
    if (mine) await release(run, target, mine, known).catch(() => {});
    throw error;
  }
}

/** What this request passes on about the execution to the next one that asks Athena. */
type Known = Partial<Pick<RecordIn<'under-way'>, 'elapsedMs' | 'hasRun' | 'isStopped' | 'runningAt'>>;

const signed = () => ({ form: 2, writer: randomUUID() }) as const;
/** The lease: how long this request asks Athena about the query, for all who wait. */
const leaseOf = ({ terms }: Run) => ({ leaseMs: Math.max(0, terms.waitUntil - Date.now()) });

/** The record of a new attempt, or of one that this request takes over. */
function openRecord(
  run: Run,
  { data: { fingerprint } }: Target,
  was: StoredDocument | undefined,
  { decision, slot }: WantedAttempt,
): OpenRecord {
  const mine = { ...signed(), ...leaseOf(run), ...(slot !== undefined && { slot }) };
  if (decision.next === 'take-over') {
    const { record } = decision;
    const elapsedMs = record.state === 'under-way' ? record.elapsedMs + (was?.ageMs ?? 0) : undefined;
    return { ...record, ...mine, ...(elapsedMs !== undefined && { elapsedMs }) } as OpenRecord;
  }
  const { isRetry, attempts } = decision;
  const follows = readRecord(was)?.writer;
  const every = {
    attempt: randomUUID(),
    attempts,
    isRetry,
    fingerprint,
    ...(follows !== undefined && { follows }),
  };
  return { state: 'starting', ...mine, ...every };
}

const start = ({ backends }: Run, { job }: Target, { attempt }: OpenRecord): Promise<string | undefined> =>
  backends.queries.start(job.query, attempt);

function readEarly(run: Run, target: Target, id: string): EarlyReads {
  const { results } = run.backends;
  const location = results.locationOf(resultKey(id));
  return {
    location,
    closing: begun(stateNow(run, target)),
    result: begun(results.readResult(location, MAX_SMALL_BYTES)),
  };
}

/** Gives up the lease, and passes on what is known. Resolves to undefined if another request has changed the record. */
async function release(
  run: Run,
  target: Target,
  { stored, record }: Held,
  known: Known,
): Promise<Held | undefined> {
  const { leaseMs: _, ...free } = record;
  const left = { ...free, ...signed(), ...(record.state === 'under-way' && known) } as OpenRecord;
  const outcome = await save<OpenRecord>(run, target, stored, left);
  return 'mine' in outcome ? outcome.mine : undefined;
}

/**
 * Writes a job's record, unless another request has changed it since it was read. Resolves to `mine` if this request's
 * record is stored, or to `theirs` with the document that is stored instead.
 */
async function save<T extends JobRecord>(
  { backends: { results } }: Run,
  { job }: Target,
  was: StoredDocument | undefined,
  record: T,
): Promise<{ readonly mine: Held<T> } | { readonly theirs: StoredDocument | undefined }> {
  const key = jobRecordKey(job);
  const written = await (was ? results.replace(was, key, record) : results.create(key, record));
  if (written) return { mine: { stored: written, record } };
  // Perhaps S3 stored the first write, but the answer was lost, and S3 then refused the repeated write.
  const stored = await results.read(key);
  return stored && readRecord(stored)?.writer === record.writer
    ? { mine: { stored, record } }
    : { theirs: stored };
}

/** An execution's end, for the metrics. */
const finishedQuery = ({ state, bytesScanned, submittedAt, completedAt }: EndedExecution) => ({
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
