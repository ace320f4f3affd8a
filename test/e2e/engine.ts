import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import type { OpenEngine } from '../../local/athena/query-engine.ts';
import { trinoOver } from '../trino/trino-tables.ts';

/** The engine of the end-to-end suite: DuckDB or, with `npm run test:trino`, the Trino that this command starts. */
export const engineOver = (eventsDirectory: string): OpenEngine => {
  const trinoUrl = process.env['TEST_TRINO_URL'];
  return trinoUrl ? trinoOver(trinoUrl, eventsDirectory) : duckDbOn(eventsDirectory);
};
