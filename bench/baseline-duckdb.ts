import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { tables } from '../lib/report/tables.ts';
import { type Question, sqlOf } from './questions.ts';

/** DuckDB as it is used by somebody who has the files but not the service. */
export interface BaselineDuckDb extends AsyncDisposable {
  /** Writes the report's rows to a file. Resolves to the milliseconds. */
  copy(question: Question): Promise<number>;
  /** The lines of the file that was written last. */
  linesOfCopy(): Promise<number>;
  /** The first value of the query's first row, as a number. */
  numberOf(sql: string): Promise<number>;
}

/** @param eventsDirectory holds `publisher_events` and `advertiser_events` */
export async function openBaselineDuckDb(eventsDirectory: string): Promise<BaselineDuckDb> {
  const scratch = await mkdtemp(join(tmpdir(), 'bench-'));
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  for (const { name } of tables) {
    const names = await readdir(join(eventsDirectory, name));
    // A lake that a benchmark makes may have an empty table.
    if (!names.some((day) => day.startsWith('day='))) continue;
    await connection.run(
      `CREATE VIEW ${name} AS SELECT * FROM read_parquet('${eventsDirectory}/${name}/*/*.parquet',
       hive_partitioning = true, hive_types = {day: VARCHAR})`,
    );
  }
  const file = join(scratch, 'report.csv');
  return {
    async copy(question) {
      const from = performance.now();
      await connection.run(`COPY (${sqlOf(question)}) TO '${file}' (FORMAT csv, HEADER)`);
      return performance.now() - from;
    },
    linesOfCopy: async () => linesOf(await readFile(file, 'utf8')),
    async numberOf(sql) {
      return Number((await connection.runAndReadAll(sql)).getRowsJS()[0]?.[0]);
    },
    async [Symbol.asyncDispose]() {
      connection.closeSync();
      instance.closeSync();
      await rm(scratch, { recursive: true });
    },
  };
}

export const linesOf = (text: string): number => text.split('\n').length;
