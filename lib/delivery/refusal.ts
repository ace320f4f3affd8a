/** The errors of a delivery without a report. */
import { ReportTooLarge, Unavailable } from '../problems/problem.ts';
import type { RecordIn } from '../results/job-record.ts';

/** The query failed. The caller gets a 500 without details; the log gets the engine's reason. */
export class QueryFailed extends Error {
  override readonly name = 'QueryFailed';
}

/** The report's file could not be made from the result. The caller gets a 500 without details. */
class PublicationFailed extends Error {
  override readonly name = 'PublicationFailed';
}

const RETRY_AFTER_SECONDS = 60;
const unavailable = (detail: string) => () => new Unavailable(detail, RETRY_AFTER_SECONDS);

export const tookTooLong = unavailable(
  'The report took too long and was given up. Narrow it, or request it later.',
);
/** The error for a caller whose time is up while its client still has no free slot. */
export const noSlotInTime = unavailable(
  'Too many reports of this client were under way. Request fewer at a time, or this one later.',
);
export const dataKeepChanging = unavailable(
  'The events of this window are being rewritten at this moment. Request the report again later.',
);

/** The error that the caller gets for an attempt that left no report. */
export function refusalOf({ executionId, why, reason }: RecordIn<'failed'>): Error {
  if (why === 'too-large') return new ReportTooLarge();
  if (why === 'too-long') return tookTooLong();
  if (why === 'data-changed') return dataKeepChanging();
  if (why === 'unpublished') return new PublicationFailed(`the result of query ${executionId} ${reason}`);
  return new QueryFailed(`query ${executionId} ${reason}`);
}
