import { NoRecords } from '../problems/problem.ts';
import type { Report } from '../report/catalogue.ts';
import type { ReportRequest } from '../report/parse-request.ts';
import type { Window } from '../report/utc-time.ts';
import { type DataState, dataState, unlistedState } from './data-version.ts';
import type { Lake } from './lake.ts';

/**
 * What the lake holds of a report's window now; undefined where it holds nothing of the report at all.
 *
 * @param maxAgeMs how old a listing may be that is used again; 0 lists now
 */
export async function stateOfLake(
  lake: Lake,
  report: Report,
  window: Window,
  maxAgeMs: number,
): Promise<DataState | undefined> {
  const listing = await lake.list(report, window, maxAgeMs);
  if (listing?.isTableMissing) return undefined;
  return listing ? dataState(listing, lake.folderOf(report)) : unlistedState();
}

/** What the lake holds for a request that begins. Throws NoRecords where it holds nothing of the report at all. */
export async function lookAtLake(
  lake: Lake,
  { report, window }: ReportRequest,
  maxAgeMs: number,
): Promise<DataState> {
  const state = await stateOfLake(lake, report, window, maxAgeMs);
  if (!state) throw new NoRecords(report.title);
  return state;
}
