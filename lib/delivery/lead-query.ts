import { Unavailable } from '../answers/problem.ts';
import { type ClaimedTry, claimNext, isRemembered } from './claim-try.ts';
import { deliverFile } from './deliver-file.ts';
import { type Delivery, lookAtLake, tookTooLong } from './delivery.ts';
import type { SucceededExecution } from './execution.ts';
import { type ExecutionVerdict, judgeExecution } from './judge-execution.ts';
import { recordKey } from './order.ts';
import type { OpenRecord, SucceededRecord } from './order-record.ts';
import { isLarge, publish } from './publication.ts';
import { endOf, failureRecord, figuresOf, recordEnd, refusalOf } from './record-end.ts';
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
 * Asks the engine about a claimed try, for all who wait for it, and does what comes next. Undefined where the order's
 * record has to be judged anew. Throws as `deliverReport` does.
 */
export async function leadQuery(run: Run, first: ClaimedTry): Promise<Delivery | undefined> {
  for (let claimed: ClaimedTry | undefined = first; claimed; ) {
    const record: OpenRecord = claimed.record;
    const led: LedTry | undefined = await execute(run, claimed).catch((error: unknown) => {
      // An engine at its limit: the try stays claimed, and whoever comes next starts it.
      if (error instanceof Unavailable && Date.now() < run.terms.giveUpAt) return undefined;
      throw error;
    });
    if (!led) return waiting(run, record.token);
    run.note({ queryExecutionId: led.id });
    const verdict = await watchAndJudge(run, led, record);
    const stored: StoredDocument | undefined = await led.recorded;
    switch (verdict.next) {
      case 'wait':
        return waiting(run, record.token);
      case 'deliver': {
        const delivery = await settle(run, stored, record, verdict.execution);
        if (delivery) return delivery;
        break;
      }
      case 'look-again':
      case 'refuse': {
        const ended = failureRecord(verdict.execution, record, {
          limit: run.terms.maxBytesScanned,
          hasDataMoved: verdict.next === 'look-again',
        });
        await recordEnd(run, stored, ended);
        if (verdict.next === 'look-again') return undefined;
        throw refusalOf(ended);
      }
      case 'stop-and-give-up':
        await run.parts.queries.stop(led.id);
        throw tookTooLong();
      case 'give-up':
        throw tookTooLong();
      case 'stop-and-start-next':
        await run.parts.queries.stop(led.id);
        break;
      case 'start-next':
      case 'retry':
        break;
    }
    claimed =
      stored && (await claimNext(run, stored, record.token, record.isRetry || verdict.next === 'retry'));
    if (claimed && verdict.next === 'retry') run.note({ recordedEnd: 'failed' });
  }
  return undefined;
}

/** Has the engine run the try, unless it does so already. */
async function execute({ parts, order }: Run, { stored, record }: ClaimedTry): Promise<LedTry> {
  if (record.state === 'under-way')
    return { id: record.executionId, startedAt: undefined, recorded: Promise.resolve(stored) };
  const startedAt = Date.now();
  const id = await parts.queries.start(order.query, record.token);
  const underWay: OpenRecord = { ...record, state: 'under-way', executionId: id };
  // The query runs meanwhile; a failure is thrown where the record is waited for.
  const recorded = parts.results.replace(stored, recordKey(order), underWay);
  recorded.catch(() => {});
  return { id, startedAt, recorded };
}

async function watchAndJudge(
  run: Run,
  { id, startedAt }: LedTry,
  { trace, isRetry }: OpenRecord,
): Promise<ExecutionVerdict> {
  const { terms, parts, note } = run;
  const execution = await watchQuery(parts, { id, startedAt }, terms);
  if ('completedAt' in execution) note(figuresOf(execution));
  return judgeExecution(execution, {
    now: Date.now(),
    longestQueryMs: terms.longestQueryMs,
    giveUpAt: terms.giveUpAt,
    isRetry,
    isRemembered: isRemembered(run, execution, startedAt),
    hasDataMoved: execution.state === 'failed' && (await hasMoved(run, trace)),
  });
}

/** Whether the lake has changed since the listing with this trace. */
const hasMoved = async ({ data, parts, wanted }: Run, trace: string): Promise<boolean> =>
  data.isListed && (await lookAtLake(parts, wanted, 0)).trace !== trace;

/** Makes the result of an execution into its report, and records it. Undefined where the result is gone. */
async function settle(
  run: Run,
  stored: StoredDocument | undefined,
  of: OpenRecord,
  execution: SucceededExecution,
): Promise<Delivery | undefined> {
  const { results } = run.parts;
  const isCopy = run.data.isListed && !(await hasMoved(run, of.trace));
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
  if (isLarge(result.bytes)) {
    result.content.destroy();
    await recordEnd(run, stored, record);
    return deliverFile(run, record);
  }
  const file = await publish(results, publicationOf(run, record), result);
  if (!file) return undefined;
  await recordEnd(run, stored, record);
  return ready(run, record, file);
}
