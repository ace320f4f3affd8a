import type { DataState } from '../lake/data-version.ts';
import { findDataState } from '../lake/read-data-state.ts';
import type { EndedExecution } from './execution.ts';
import type { Run, Target } from './phase.ts';

/**
 * How soon after a query's end the lake must be listed again, in milliseconds. After a longer time, a file that existed
 * while the query ran may be gone without a trace.
 */
const SOON_MS = 10_000;

export const isSeenInTime = ({ observedAt, completedAt }: EndedExecution): boolean =>
  observedAt - completedAt < SOON_MS;

/**
 * The state of the data after a query. Undefined if the lake could not be listed before the query, or if the table is
 * missing now.
 */
export const stateAfterQuery = (
  { backends: { lake }, wanted: { request } }: Run,
  { data }: Target,
): Promise<DataState | undefined> =>
  data.isListed ? findDataState(lake, request.report, request.window, 0) : Promise.resolve(undefined);

/** Whether the lake is as it was before the query. */
export const isUnchanged = async (run: Run, target: Target): Promise<boolean> =>
  (await stateAfterQuery(run, target))?.fingerprint === target.data.fingerprint;
