/**
 * The work of the request that holds the lease, from the query's start to its end. The file is long because its steps
 * share the lease: each step must say whether the lease is given up.
 */
import { NotEngineCsv } from '../csv/not-engine-csv.ts';
import type { OpenRecord, StoredRecord } from '../results/job-record.ts';
import { resultKey } from '../results/keys.ts';
import { startAttempt } from './arrive.ts';
import { createAttempt, endFacts, leaseOf, MAX_ATTEMPTS, release, signed, writeRecord } from './attempt.ts';
import { tookTooLong } from './delivery.ts';
import { endAtScanLimit, endWithFailure, isUnchanged, stateAfterQuery } from './end-attempt.ts';
import type { EndedExecution, Execution, FailedExecution, RunningExecution } from './execution.ts';
import { type ExecutionVerdict, isStale, judgeExecution } from './judge-execution.ts';
import { begun, type Leading, progressOf, type Run, type Step, type Target, waiting } from './phase.ts';
import { type Early, settleReport } from './settle-report.ts';
import { type WatchedExecution, watchExecution } from './watch-execution.ts';
import { MAX_SMALL_BYTES } from './write-report.ts';

type Held = StoredRecord<OpenRecord>;

/**
 * Asks Athena about an attempt, for all the requests that wait for it, and acts on the answer. On an error, gives up
 * the lease, so that another request may ask at once.
 */
export async function leadAttempt(run: Run, phase: Leading): Promise<Step> {
  const { terms, note } = run;
  const { target } = phase;
  let recorded: Promise<Held | undefined> = Promise.resolve(phase.held);
  let known: ReturnType<typeof knownOf> | undefined;
  try {
    const watched = await start(run, phase, (underWay) => {
      recorded = underWay;
    });
    // Nobody can learn the execution of this token any more: another attempt takes the place of this one.
    if (!watched) return await createNext(run, phase, { held: phase.held });
    note({ queryExecutionId: watched.id });
    const {
      execution,
      runningAt,
      hasRun,
      elapsedMs,
      begun: early,
    } = await watchExecution(run.backends, watched, terms, () => startEarlyReads(run, target, watched.id));
    if (execution && 'completedAt' in execution) note(endFacts(execution));
    const answeredAt = Date.now();
    known = knownOf(execution, elapsedMs, runningAt, hasRun);
    const wait = waitOf(run, phase);
    const isFailed = execution?.state === 'failed';
    const verdict: ExecutionVerdict = judgeExecution(execution, {
      ...terms,
      runningAt,
      hasRun,
      callerLeftMs: terms.giveUpAt - Date.now(),
      ...wait,
      isRetry: phase.held.record.isRetry,
      isStopped: phase.held.record.state === 'under-way' && phase.held.record.isStopped,
      isDataChanged: isFailed && target.data.isListed && !(await isUnchanged(run, target)),
    });
    return await act(run, phase, { verdict, held: await recorded, early, known, answeredAt, wait });
  } catch (error) {
    // If the write of the start failed, perhaps the record before it is still there.
    const held = await recorded.catch(() => phase.held);
    if (held) await release(run, target, held, known).catch(() => {});
    throw error;
  }
}

/** Starts the attempt's query, unless Athena already runs it. */
async function start(
  run: Run,
  { target, held: { stored, record } }: Leading,
  onRecorded: (underWay: Promise<Held | undefined>) => void,
): Promise<WatchedExecution | undefined> {
  if (record.state === 'under-way') {
    // Release 1.0.0 writes no `hasRun`.
    const { executionId, elapsedMs, runningAt, hasRun = runningAt !== undefined } = record;
    return { id: executionId, elapsedMs, runningAt, hasRun, isTakenOver: true };
  }
  const id = await run.backends.queries.start(target.job.query, record.attempt);
  if (id === undefined) return undefined;
  const underWay = {
    ...signed(),
    ...leaseOf(run),
    state: 'under-way',
    executionId: id,
    elapsedMs: 0,
  } as const;
  // The record is written while the query runs. If the write fails, the code that awaits it gets the error.
  onRecorded(
    begun(
      writeRecord<OpenRecord>(run, target, stored, { ...record, ...underWay }).then((outcome) =>
        'mine' in outcome ? outcome.mine : undefined,
      ),
    ),
  );
  return { id, elapsedMs: 0, runningAt: undefined, hasRun: false, isTakenOver: false };
}

function startEarlyReads(run: Run, target: Target, id: string): Early {
  const { results } = run.backends;
  const location = results.locationOf(resultKey(id));
  return {
    location,
    closing: begun(stateAfterQuery(run, target)),
    result: begun(results.readResult(location, MAX_SMALL_BYTES)),
  };
}

/** The facts that this request passes on to the next request that asks Athena about the execution. */
const knownOf = (
  execution: Execution | undefined,
  elapsedMs: number,
  runningAt: number | undefined,
  hasRun: boolean,
) => ({
  ...((!execution || execution.state === 'under-way') && { elapsedMs }),
  runningAt,
  ...(hasRun && { hasRun }),
});

interface Judged {
  readonly verdict: ExecutionVerdict;
  /** The record as this request wrote it; undefined if another request has replaced it. */
  readonly held: Held | undefined;
  readonly early: Early | undefined;
  readonly known: ReturnType<typeof knownOf>;
  /** When Athena's last answer came, by this machine's clock. */
  readonly answeredAt: number;
  /** How long the caller had waited when Athena answered, and whether the attempt was created for this caller. */
  readonly wait: ReturnType<typeof waitOf>;
}

/** Acts on the verdict about an execution. */
async function act(run: Run, phase: Leading, judged: Judged): Promise<Step> {
  const { verdict, held, early, known, answeredAt, wait } = judged;
  const { target } = phase;
  const { record } = phase.held;
  const next = (how: Partial<Next>) =>
    createNext(run, phase, { held, isRetry: record.isRetry, answeredAt, ...how });
  /** Gives up the lease, and leads the caller on to its next request, if it has time for one. */
  const goOn = async (): Promise<Step> => {
    if (held) await release(run, target, held, known).catch(() => {});
    return Date.now() < run.terms.giveUpAt ? waiting(progressOf(phase)) : { refusal: tookTooLong() };
  };
  switch (verdict.next) {
    case 'wait':
      return goOn();
    case 'deliver': {
      const { execution } = verdict;
      try {
        const step = await settleReport(run, phase, { held, execution, early, answeredAt });
        if (step === 'late') return goOn();
        return step ?? next({ ended: execution });
      } catch (error) {
        if (!(error instanceof NotEngineCsv)) throw error;
        const failed = asFailed(execution, error.message);
        // The failure is stale for a caller that came after the query's end: start the next attempt instead.
        return isStale(execution, wait)
          ? next({ ended: failed })
          : endWithFailure(run, phase, held, { execution: failed, answeredAt });
      }
    }
    case 'start-next':
      return next({
        isRetry: verdict.isRetry ?? record.isRetry,
        cause: verdict.cause,
        ended: verdict.execution,
      });
    case 'stop': {
      const stopped = asStopped(verdict.execution, known.runningAt);
      // Athena may throttle the next call for longer than the lease lasts. Who takes over must know the running time.
      const free = held && (await release(run, target, held, { ...known, isStopped: true }));
      await run.backends.queries.stop(stopped.id);
      return verdict.hasTimeForAnother
        ? next({ held: free, cause: 'took-too-long', ended: stopped })
        : endWithFailure(run, phase, free, { execution: stopped, cause: 'took-too-long', answeredAt });
    }
    case 'took-too-long':
    case 'data-changed':
      return endWithFailure(run, phase, held, {
        execution: verdict.execution,
        cause: verdict.next,
        answeredAt,
      });
    case 'refuse':
      return verdict.execution.state === 'failed'
        ? endWithFailure(run, phase, held, { execution: verdict.execution, answeredAt })
        : endAtScanLimit(run, phase, held, verdict.execution);
  }
}

interface Next extends Pick<Judged, 'held'> {
  readonly isRetry?: boolean;
  /** How the attempt ended; undefined if Athena does not know it any more. */
  readonly ended?: EndedExecution | undefined;
  /** Why a request that waits may create the next attempt, if this one can't. */
  readonly cause?: 'took-too-long' | undefined;
  readonly answeredAt?: number;
}

/** Creates the attempt that follows the one that this request leads, or lets another request create it. */
async function createNext(
  run: Run,
  phase: Leading,
  { held, isRetry = phase.held.record.isRetry, ended, cause, answeredAt = Date.now() }: Next,
): Promise<Step> {
  const { target, cacheStatus } = phase;
  const waited = { at: 'following', target, cacheStatus } as const;
  if (!held) return { at: 'arrived', target, waitsForSlot: false, waited };
  const { slot, attempts = 1 } = held.record;
  const failed = ended && (ended.state === 'failed' ? ended : asFailed(ended, 'left nothing for its caller'));
  // The recorded failure is the answer for all who wait. The next caller begins at one.
  if (failed && attempts >= MAX_ATTEMPTS)
    return endWithFailure(run, phase, held, { execution: failed, ended, answeredAt });
  const next = { isRetry, attempts: ended ? attempts + 1 : attempts };
  // If this request created the attempt, the next attempt keeps the slot. Otherwise the slot may be another client's, or
  // too old.
  const hasSlot = phase.isCreator || run.terms.queriesPerPartner === undefined;
  if (hasSlot && Date.now() < run.terms.giveUpAt)
    return createAttempt(run, target, held.stored, { ...next, slot, ended });
  // Perhaps this request gets no slot, or its caller's time is up. So the end is recorded and counted first, and any
  // request that waits may create the next attempt.
  if (failed) {
    const why = { cause: cause ?? 'not-repeated', isRetry } as const;
    return endWithFailure(run, phase, held, { execution: failed, ...why, ended, answeredAt });
  }
  const free = await release(run, target, held);
  if (!free) return { at: 'arrived', target, waitsForSlot: false, waited };
  return startAttempt(run, target, { latest: free.stored, waited, ...next });
}

/** How long the caller has waited, and whether the attempt was created for this caller. */
const waitOf = ({ terms }: Run, { cacheStatus }: Leading) => ({
  callerWaitedMs: Date.now() - terms.askedAt,
  isForThisCaller: cacheStatus === 'miss',
});

const asFailed = (execution: Omit<FailedExecution, 'state' | 'reason' | 'isRetryable'>, reason: string) =>
  ({ ...execution, state: 'failed', reason, isRetryable: false }) as const;

/**
 * The failure to record for an execution that this request stops, made from Athena's last answer. AWS charges the bytes
 * that the query has scanned. `engineMs` is 0 if the query was still queued.
 */
const asStopped = (execution: RunningExecution, runningAt = execution.observedAt): FailedExecution =>
  asFailed(
    {
      ...execution,
      completedAt: execution.observedAt,
      engineMs: execution.observedAt - runningAt,
    },
    'it took too long and was stopped',
  );
