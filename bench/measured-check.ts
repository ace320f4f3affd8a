/** Checks a lake, or reads its columns once, in a process of its own. Sends what that took. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { type Column, tables } from '../lib/report/tables.ts';
import { lakeCommand } from '../tools/lake/command.ts';
import { serveMeasures } from './measured-process.ts';

const [subject = '', directory = ''] = process.argv.slice(2);

/** SQL that reads a column and does little else. */
const sumOf = ({ name, type }: Column): string =>
  type === 'timestamp'
    ? `count_if(${name} < TIMESTAMP '2000-01-01')`
    : `sum(${type === 'varchar' ? `strlen(${name})` : name})`;

async function readOnce(): Promise<void> {
  const connection = await (await DuckDBInstance.create()).connect();
  for (const { name, columns } of tables) {
    const table = join(directory, name);
    if (!existsSync(table) || !readdirSync(table).some((day) => day.startsWith('day='))) continue;
    await connection.runAndReadAll(
      `SELECT ${columns.map(sumOf).join(', ')} FROM read_parquet('${table}/*/*.parquet', hive_partitioning = false)`,
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
