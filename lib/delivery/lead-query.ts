import { type ClaimedTry, claimNext, isRemembered, release } from './claim-try.ts';
import { deliverFile } from './deliver-file.ts';
import { type Delivery, lookAtLake, tookTooLong } from './delivery.ts';
import type { FailedExecution, SucceededExecution } from './execution.ts';
import { type ExecutionVerdict, judgeExecution } from './judge-execution.ts';
import { recordKey } from './order.ts';
import type { OpenRecord, SucceededRecord } from './order-record.ts';
import { isLarge, publish } from './publication.ts';
import {
  countedEnd,
  endOf,
  failureRecord,
  figuresOf,
  recordAnswer,
  recordEnd,
  refusalOf,
} from './record-end.ts';
import type { StoredDocument } from './results.ts';
import { publicationOf, type Run, ready, waiting } from './run.ts';
import { watchQuery } from './watch-query.ts';

/** A try as the engine runs it. */
interface LedTry {
  readonly id: string;
  /** When this request asked for it; undefined where another one did. */
  readonly startedAt: number | undefined;
  /** Resolves to the record of it; undefined where another request has replaced it by a later try. */
  readonly recorded: Promise<StoredDocument | undefined>;
}

/**
 * How soon after a query's end the lake must be listed again, in milliseconds. Later than that, a file that was there
 * while the query ran may be gone without a trace.
 */
const SOON_MS = 10_000;

/**
 * Asks the engine about a claimed try, for all who wait for it, and does what comes next. Undefined where the order's
 * record has to be judged anew. Throws as `deliverReport` does.
 */
export async function leadQuery(run: Run, first: ClaimedTry): Promise<Delivery | undefined> {
  for (let claimed: ClaimedTry | undefined = first; claimed; ) {
    const asked: AskedTry = await ask(run, claimed);
    const stored: StoredDocument | undefined = await asked.led.recorded;
    try {
      const outcome: Outcome = await act(run, asked, stored);
      if (outcome.next !== 'claim') return outcome.delivery;
      claimed =
        stored &&
        (await claimNext(run, stored, asked.record.token, outcome.isRetry, asked.record.startedFor));
      if (claimed && outcome.failed) run.note({ ends: [countedEnd('failed', outcome.failed)] });
    } catch (error) {
      // This request can't go on: another may take over at once.
      if (stored) await release(run, stored).catch(() => {});
      throw error;
    }
  }
  return undefined;
}

/** What has become of a try: an answer, the order's record to be judged anew (no delivery), or a next try to claim. */
type Outcome =
  | { readonly next: 'answer'; readonly delivery: Delivery | undefined }
  | { readonly next: 'claim'; readonly isRetry: boolean; readonly failed?: FailedExecution };

/** Does what a try's execution calls for. */
async function act(
  run: Run,
  { record, led, verdict }: AskedTry,
  stored: StoredDocument | undefined,
): Promise<Outcome> {
  const claimAnother: Outcome = { next: 'claim', isRetry: record.isRetry };
  switch (verdict.next) {
    case 'wait':
      return { next: 'answer', delivery: waiting(run, record.token) };
    case 'deliver': {
      const delivery = await settle(run, stored, record, verdict.execution);
      return delivery ? { next: 'answer', delivery } : claimAnother;
    }
    case 'look-again':
    case 'refuse': {
      const ended = failureRecord(verdict.execution, record, {
        limit: run.terms.maxBytesScanned,
        hasDataMoved: verdict.next === 'look-again',
      });
      await recordEnd(run, stored, ended);
      if (ended.state === 'cut-off' && (await stoodStill(run, ended))) await recordAnswer(run, ended);
      if (verdict.next === 'look-again') return { next: 'answer', delivery: undefined };
      throw refusalOf(ended);
    }
    case 'stop-and-give-up':
      await run.backends.queries.stop(led.id);
      throw tookTooLong();
    case 'give-up':
      throw tookTooLong();
    case 'stop-and-start-next':
      await run.backends.queries.stop(led.id);
      return claimAnother;
    case 'start-next':
      return claimAnother;
    case 'retry':
      return { next: 'claim', isRetry: true, failed: verdict.execution };
  }
}

interface AskedTry {
  readonly record: OpenRecord;
  readonly led: LedTry;
  readonly verdict: ExecutionVerdict;
}

/** Has the engine run a try, and judges the execution. On an error, gives up the claim: another may ask at once. */
async function ask(run: Run, claimed: ClaimedTry): Promise<AskedTry> {
  const { record } = claimed;
  let recorded: Promise<StoredDocument | undefined> = Promise.resolve(claimed.stored);
  try {
    const led = await execute(run, claimed);
    recorded = led.recorded;
    run.note({ queryExecutionId: led.id });
    return { record, led, verdict: await watchAndJudge(run, led, record) };
  } catch (error) {
    const stored = await recorded.catch(() => undefined);
    if (stored) await release(run, stored).catch(() => {});
    throw error;
  }
}

/** Has the engine run the try, unless it does so already. */
async function execute({ backends, order, data }: Run, { stored, record }: ClaimedTry): Promise<LedTry> {
  if (record.state === 'under-way')
    return { id: record.executionId, startedAt: undefined, recorded: Promise.resolve(stored) };
  const startedAt = Date.now();
  const id = await backends.queries.start(order.query, record.token);
  const underWay: OpenRecord = { ...record, state: 'under-way', executionId: id, startedAt };
  // The query runs meanwhile; a failure is thrown where the record is waited for.
  const recorded = backends.results.replace(stored, recordKey(order, data), underWay);
  recorded.catch(() => {});
  return { id, startedAt, recorded };
}

async function watchAndJudge(
  run: Run,
  { id, startedAt }: LedTry,
  record: OpenRecord,
): Promise<ExecutionVerdict> {
  const since = record.state === 'under-way' ? record.startedAt : undefined;
  const { terms, backends, note } = run;
  const watched = startedAt === undefined ? { id, startedAt: since, isTakenOver: true } : { id, startedAt };
  const execution = await watchQuery(backends, watched, terms);
  if ('completedAt' in execution) note(figuresOf(execution));
  return judgeExecution(execution, {
    now: Date.now(),
    longestQueryMs: terms.longestQueryMs,
    giveUpAt: terms.giveUpAt,
    isRetry: record.isRetry,
    isRemembered: isRemembered(run, execution, startedAt),
    hasDataMoved: execution.state === 'failed' && run.data.isListed && (await hasMoved(run)),
  });
}

/** Whether the lake has changed since the listing for which the order's tries are started. */
const hasMoved = async ({ data, backends, wanted }: Run): Promise<boolean> =>
  (await lookAtLake(backends, wanted, 0)).trace !== data.trace;

/** Whether the lake is known to have stood still from before an execution until after it. */
const stoodStill = async (run: Run, { completedAt }: { readonly completedAt: number }): Promise<boolean> =>
  run.data.isListed && Date.now() < completedAt + SOON_MS && !(await hasMoved(run));

/** Makes the result of an execution into its report, and records it. Undefined where the result is gone. */
async function settle(
  run: Run,
  stored: StoredDocument | undefined,
  of: OpenRecord,
  execution: SucceededExecution,
): Promise<Delivery | undefined> {
  const { results } = run.backends;
  const isCopy = await stoodStill(run, execution);
  const result = await results.openResult(execution.location);
  if (!result) return undefined;
  const record: SucceededRecord = {
    state: 'succeeded',
    ...endOf(execution, of),
    location: execution.location,
    resultBytes: result.bytes,
    isCopy,
    goodUntil: run.data.isListed && run.terms.listingMs > 0 ? run.data.listedAt + run.terms.listingMs : 0,
  };
  const mustWait = isLarge(result.bytes);
  if (mustWait) result.content.destroy();
  else if (!(await publish(results, publicationOf(run, record), result))) return undefined;
  await Promise.all([recordEnd(run, stored, record), isCopy && recordAnswer(run, record)]);
  return mustWait ? deliverFile(run, record) : ready(run, record);
}
