/** Jobs that are measured in a process of their own, and the start of such a process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { publisherReport } from '../lib/report/catalogue.ts';
import { quoteText } from '../lib/report/quote-sql.ts';
import { type Column, tableOf, tables } from '../lib/report/tables.ts';
import { daySelect } from '../tools/lake/day-file.ts';
import { duckDbMemory } from '../tools/lake/open-duckdb.ts';
import { lakeCommand } from '../tools/lake.ts';
import { cpuMs } from './measuring.ts';

/** SQL that reads a column and does little else. */
const sumOf = ({ name, type }: Column): string =>
  type === 'timestamp'
    ? `count_if(${name} < TIMESTAMP '2000-01-01')`
    : `sum(${type === 'varchar' ? `strlen(${name})` : name})`;

const JOBS = {
  /** Runs `npm run lake -- <arguments>`, and drops what it says. */
  async lake(...args: readonly string[]) {
    const code = await lakeCommand(args, { out: () => {}, err: () => {} });
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  },

  /** DuckDB alone reads each column of a lake once. */
  async readOnce(directory = '') {
    const connection = await (await DuckDBInstance.create()).connect();
    for (const { name, columns } of tables) {
      const table = join(directory, name);
      if (!existsSync(table) || !readdirSync(table).some((day) => day.startsWith('day='))) continue;
      await connection.runAndReadAll(
        `SELECT ${columns.map(sumOf).join(', ')} FROM read_parquet('${table}/*/*.parquet', hive_partitioning = false)`,
      );
    }
  },

  /** DuckDB, without our code, copies records into one file. It sorts them as the lake's days are sorted. */
  async sortedCopy(reader = '', target = '', memoryBytes = '') {
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: `${duckDbMemory(Number(memoryBytes))}B`,
      temp_directory: `${target}.spilled`,
    });
    const sorted = daySelect(tableOf(publisherReport), publisherReport, reader, false);
    await (await instance.connect()).run(
      `COPY (SELECT * FROM ${reader} ${sorted.slice(sorted.indexOf('ORDER BY'))})
       TO ${quoteText(target)} (FORMAT parquet, COMPRESSION zstd)`,
    );
  },
} satisfies Record<string, (...args: string[]) => Promise<void>>;

interface Used {
  readonly ms: number;
  readonly cpuMs: number;
}

/** The time and the CPU that a process used. */
export interface Alone {
  readonly whole: Used;
  /** Without the start of the process, which loads its modules. */
  readonly work: Used;
  /** Linux's VmHWM. */
  readonly peakMb: number;
}

/** Does a job in a process of its own. */
export async function alone(job: keyof typeof JOBS, ...args: readonly string[]): Promise<Alone> {
  const child = fork(import.meta.filename, [job, ...args]);
  let used: Alone | undefined;
  child.on('message', (message: Alone) => {
    used = message;
  });
  const [code] = await once(child, 'exit');
  if (!used || code !== 0) throw new Error(`${job} ${args.join(' ')} ended with ${code}`);
  return used;
}

if (process.argv[1] === import.meta.filename) {
  const [job, ...args] = process.argv.slice(2);
  const start = { ms: performance.now(), cpuMs: cpuMs() };
  await JOBS[job as keyof typeof JOBS](...args);
  const whole = { ms: performance.now(), cpuMs: cpuMs() };
  const work = { ms: whole.ms - start.ms, cpuMs: whole.cpuMs - start.cpuMs };
  process.send?.({ whole, work, peakMb: (process.resourceUsage().maxRSS * 1024) / 1e6 } satisfies Alone);
  process.disconnect();
}
