/** Checks a lake, or reads once the columns that a check needs, in a process of its own. Sends what that took. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { companyColumn, countColumns, levelColumns } from '../lake-check/report-columns.ts';
import { type Report, reports } from '../lib/report/catalogue.ts';
import { TIME_COLUMN } from '../lib/report/tables.ts';
import { lakeCommand } from '../tools/lake/command.ts';
import { serveMeasures } from './measured-process.ts';

const [subject = '', directory = ''] = process.argv.slice(2);

/** The columns that a check reads besides the time: the company, the counts, and the columns of the levels. */
const neededColumns = (report: Report): string[] => {
  const levels = levelColumns(report);
  return [
    ...new Set([
      companyColumn(report),
      ...countColumns(report),
      ...(levels ? [levels.finer, ...levels.others] : []),
    ]),
  ];
};

async function readOnce(): Promise<void> {
  const connection = await (await DuckDBInstance.create()).connect();
  for (const report of reports) {
    const table = join(directory, report.table);
    if (!existsSync(table) || !readdirSync(table).some((name) => name.startsWith('day='))) continue;
    const sums = neededColumns(report).map((name) => `sum(${name})`);
    await connection.runAndReadAll(
      `SELECT count_if(${TIME_COLUMN} < TIMESTAMP '2000-01-01'), ${sums.join(', ')}
       FROM read_parquet('${table}/*/*.parquet', hive_partitioning = false)`,
    );
  }
}

async function check(): Promise<void> {
  const code = await lakeCommand(['check', directory], { out: () => {}, err: () => {} });
  if (code !== 0) throw new Error(`the check of ${directory} ended with ${code}`);
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const start = { ms: performance.now(), cpuMs: cpuMs() };
await (subject === 'check' ? check() : readOnce());
const end = { ms: performance.now(), cpuMs: cpuMs() };
serveMeasures({ start: JSON.stringify(start), end: JSON.stringify(end) }, async () => {});
