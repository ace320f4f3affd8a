import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Report } from '../../lib/report/catalogue.ts';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import { askEngine } from '../trino/ask-engine.ts';
import type { Case } from '../trino/corpus.ts';

/** The reports of a lake in a folder, made by DuckDB. */
export interface LakeReports extends AsyncDisposable {
  ask(report: Report, asked: Case): Promise<string>;
}

export async function openLake(directory: string): Promise<LakeReports> {
  const scratch = await mkdtemp(join(tmpdir(), 'lake-reports-'));
  const engine = await duckDbOn(directory)({ database: 'lake', scratchDirectory: scratch });
  return {
    ask: (report, asked) => askEngine(engine, report, asked),
    async [Symbol.asyncDispose]() {
      engine.close();
      await rm(scratch, { recursive: true });
    },
  };
}
