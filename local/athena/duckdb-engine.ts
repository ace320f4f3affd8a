import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { failureOf } from './duckdb-failure.ts';
import { type DuckDbOptions, openInstance } from './duckdb-instance.ts';
import { interruptOn } from './duckdb-interrupt.ts';
import { evaluateParameters } from './duckdb-parameters.ts';
import { bytesRead, profileInto } from './duckdb-profile.ts';
import type { OpenEngine, OpenedEngine, Query, QueryOutcome } from './query-engine.ts';
import { QueryFailure } from './query-failure.ts';

const CORES = availableParallelism();

/** The number of threads in Node.js's pool. Each query holds a thread, and all file access needs one. */
const THREADS = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);

/** At most one query per core runs. Two threads stay free, or file access would wait for a query to end. */
const MAX_RUNNING = Math.max(1, Math.min(CORES, THREADS - 2));

/** Athena's CSV: all values but NULL are quoted, timestamps have milliseconds. */
const CSV_OPTIONS = `FORMAT csv, HEADER, FORCE_QUOTE *, TIMESTAMPFORMAT '%Y-%m-%d %H:%M:%S.%g'`;

/** Opens DuckDB as the engine of one database. Rejects with an OperatorFault if the events can't be served. */
export async function openDuckDb(options: DuckDbOptions): Promise<OpenedEngine> {
  const { instance, events } = await openInstance(options);
  const scratchDirectory = resolve(options.scratchDirectory);
  let running = 0;
  /**
   * A query that runs alone uses all cores. If several queries run, each uses one core: to split a query over cores
   * costs a tenth of the query's time.
   */
  const setThreads = (connection: DuckDBConnection) =>
    connection.run(`SET GLOBAL threads = ${running > 1 ? 1 : CORES}`);
  return {
    maxRunning: MAX_RUNNING,
    close: () => instance.closeSync(),
    async run(query) {
      const connection = await instance.connect();
      const csvPath = join(scratchDirectory, `${query.id}.csv`);
      running += 1;
      try {
        await setThreads(connection);
        using _interrupting = interruptOn(query.signal, connection);
        await events.follow(connection, query.sql);
        await connection.run(`USE ${quoteName(options.database)}`);
        return await copyResult(connection, query, csvPath);
      } catch (error) {
        await rm(csvPath, { force: true });
        throw failureOf(error as Error);
      } finally {
        running -= 1;
        connection.closeSync();
      }
    },
  };
}

/** DuckDB on a directory of events, as the engine of a stack. */
export const duckDbOn =
  (eventsDirectory: string, told: Pick<DuckDbOptions, 'onWarning' | 'onProgress'> = {}): OpenEngine =>
  (options) =>
    openDuckDb({ ...options, eventsDirectory, ...told });

async function copyResult(
  connection: DuckDBConnection,
  query: Query,
  csvPath: string,
): Promise<QueryOutcome> {
  const startedAt = performance.now();
  const sql = query.sql.replace(/;\s*$/, '');
  // The SQL is parsed by itself first: inside `COPY (…)`, a text with a closing bracket could run another statement.
  const { count } = await connection.extractStatements(sql);
  if (count !== 1) throw new QueryFailure('INVALID_FUNCTION_ARGUMENT', 'Only one SQL statement is allowed');
  const profilePath = `${csvPath}.profile.json`;
  try {
    await profileInto(connection, profilePath);
    const copy = await connection.prepare(`COPY (${sql}\n) TO ${quoteText(csvPath)} (${CSV_OPTIONS})`);
    const { values, types } = await evaluateParameters(connection, query.parameters, copy.parameterCount);
    if (values.length > 0) copy.bind(values, types);
    const planningMs = performance.now() - startedAt;
    query.signal.throwIfAborted();
    await copy.run();
    return { csvPath, bytesScanned: await bytesRead(profilePath), planningMs };
  } finally {
    await rm(profilePath, { force: true });
  }
}
