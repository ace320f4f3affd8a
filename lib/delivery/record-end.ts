import { ReportTooLarge } from '../answers/problem.ts';
import { type DeliveryFacts, type QueryEnd, QueryFailed } from './delivery.ts';
import type { CutOffExecution, EndedExecution, FailedExecution } from './execution.ts';
import { copyKey, recordKey } from './order.ts';
import { type EndedRecord, readRecord } from './order-record.ts';
import type { StoredDocument } from './results.ts';
import type { Run } from './run.ts';

/** What the log learns of an execution that has ended. */
export const figuresOf = ({
  submittedAt,
  completedAt,
  bytesScanned,
  engineMs,
}: Omit<EndedExecution, 'id' | 'state'>): DeliveryFacts => ({
  bytesScanned,
  engineMs,
  queryMs: completedAt - submittedAt,
});

/** The part of a record that every ended execution has. */
export const endOf = (
  { id, submittedAt, completedAt, bytesScanned, engineMs }: EndedExecution,
  { token, trace }: Pick<EndedRecord, 'token' | 'trace'>,
) => ({ form: 1, token, trace, executionId: id, submittedAt, completedAt, bytesScanned, engineMs }) as const;

/**
 * Records how a try ended, unless another request has done so. The request that records it also counts the query, so
 * that each query is counted once.
 *
 * @param stored the record as this request wrote it; undefined where another has replaced it
 */
export async function recordEnd(
  { backends: { results }, order, data, note }: Run,
  stored: StoredDocument | undefined,
  record: EndedRecord,
): Promise<void> {
  if (stored && (await results.replace(stored, recordKey(order, data), record)))
    note({ ends: [countedEnd(record.state, record)] });
}

/** An execution's end, for the metrics. */
export const countedEnd = (
  state: QueryEnd['state'],
  { bytesScanned, submittedAt, completedAt }: Omit<EndedExecution, 'id' | 'state'>,
): QueryEnd => ({ state, bytesScanned, queryMs: completedAt - submittedAt });

/**
 * Records which execution answers the order's version: its file is the copy, or it was cut off. A record of the same
 * try stays; a record of another try is replaced.
 */
export async function recordAnswer(
  { backends: { results }, order }: Run,
  record: EndedRecord,
): Promise<void> {
  const key = copyKey(order);
  if (await results.create(key, record)) return;
  const stored = await results.read(key);
  if (stored && readRecord(stored)?.token !== record.token) await results.replace(stored, key, record);
}

/** The record of an execution without a result. */
export const failureRecord = (
  execution: FailedExecution | CutOffExecution,
  of: Pick<EndedRecord, 'token' | 'trace'>,
  { limit, hasDataMoved }: { readonly limit: number; readonly hasDataMoved: boolean },
): Exclude<EndedRecord, { readonly state: 'succeeded' }> =>
  execution.state === 'cut-off'
    ? { state: 'cut-off', ...endOf(execution, of), limit }
    : { state: 'failed', ...endOf(execution, of), reason: execution.reason, hasDataMoved };

/** What the caller is told of an execution without a result. */
export const refusalOf = (record: ReturnType<typeof failureRecord>): Error =>
  record.state === 'cut-off'
    ? new ReportTooLarge()
    : new QueryFailed(`query ${record.executionId} ${record.reason}`);
