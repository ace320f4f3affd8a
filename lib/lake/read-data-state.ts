import { NoRecords } from '../problems/problem.ts';
import type { Report } from '../report/catalogue.ts';
import type { ReportRequest } from '../report/parse-request.ts';
import type { Window } from '../report/utc-time.ts';
import { type DataState, dataState, lakeDays, unlistedState } from './data-version.ts';
import { emptyReason } from './empty-reason.ts';
import type { Lake } from './lake.ts';

/**
 * The state of the data in a report's window; undefined if the report's table is missing.
 *
 * @param maxAgeMs the maximum age of a listing that is reused; 0 always lists the lake again
 */
export async function findDataState(
  lake: Lake,
  report: Report,
  window: Window,
  maxAgeMs: number,
): Promise<DataState | undefined> {
  const listing = await lake.list(report, window, maxAgeMs);
  if (listing?.isTableMissing) return undefined;
  return listing ? dataState(listing, lake.folderOf(report)) : unlistedState();
}

/** The state of the data that a request reads. Throws NoRecords if the report's table is missing. */
export async function readDataState(
  lake: Lake,
  request: ReportRequest,
  maxAgeMs: number,
): Promise<DataState> {
  const { report, window } = request;
  const listing = await lake.list(report, window, maxAgeMs);
  if (listing?.isTableMissing) throw new NoRecords(report.title);
  if (!listing) return { ...unlistedState(), whyEmpty: emptyReason(request, undefined) };
  const folder = lake.folderOf(report);
  const days = lakeDays(listing, folder);
  return { ...dataState(listing, folder, days), whyEmpty: emptyReason(request, days) };
}
