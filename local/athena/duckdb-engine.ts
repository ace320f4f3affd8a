import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { failureOf } from './duckdb-failure.ts';
import { type DuckDbOptions, openInstance } from './duckdb-instance.ts';
import { interruptOn } from './duckdb-interrupt.ts';
import { evaluateParameters } from './duckdb-parameters.ts';
import { bytesRead, profileInto } from './duckdb-profile.ts';
import type { OpenEngine, OpenedEngine, Query, QueryOutcome } from './query-engine.ts';

/**
 * A running query holds one of the threads that Node.js has for all files and signatures of the process, by
 * default 4. With none left, everything waits for a query to end; so two are kept free.
 */
const THREADS = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);
const MAX_RUNNING = Math.min(8, Math.max(1, THREADS - 2));

/** Athena's CSV: everything quoted but NULL, timestamps with three digits of their second. */
const CSV_OPTIONS = `FORMAT csv, HEADER, FORCE_QUOTE *, TIMESTAMPFORMAT '%Y-%m-%d %H:%M:%S.%g'`;

/** Opens DuckDB as the engine of one database. Rejects with an EventsFault if the events can't be served. */
export async function openDuckDb(options: DuckDbOptions): Promise<OpenedEngine> {
  const { instance, events } = await openInstance(options);
  const scratchDirectory = resolve(options.scratchDirectory);
  return {
    maxRunning: MAX_RUNNING,
    close: () => instance.closeSync(),
    async run(query) {
      const connection = await instance.connect();
      const csvPath = join(scratchDirectory, `${query.id}.csv`);
      try {
        using _interrupting = interruptOn(query.signal, connection);
        await events.follow(connection, query.sql);
        await connection.run(`USE ${quoteName(options.database)}`);
        return await copyResult(connection, query, csvPath);
      } catch (error) {
        await rm(csvPath, { force: true });
        throw failureOf(error as Error);
      } finally {
        connection.closeSync();
      }
    },
  };
}

/** DuckDB on a directory of events, as the engine of a stack. */
export const duckDbOn =
  (eventsDirectory: string, onWarning?: (line: string) => void): OpenEngine =>
  (options) =>
    openDuckDb({ ...options, eventsDirectory, ...(onWarning && { onWarning }) });

async function copyResult(
  connection: DuckDBConnection,
  query: Query,
  csvPath: string,
): Promise<QueryOutcome> {
  const startedAt = performance.now();
  const sql = query.sql.replace(/;\s*$/, '');
  // Prepared alone first: inside the brackets of COPY, a text that closes them could do more than select.
  const statement = await connection.prepare(sql);
  const { values, types } = await evaluateParameters(connection, query.parameters, statement.parameterCount);
  const profilePath = `${csvPath}.profile.json`;
  try {
    await profileInto(connection, profilePath);
    const copy = await connection.prepare(`COPY (${sql}\n) TO ${quoteText(csvPath)} (${CSV_OPTIONS})`);
    if (values.length > 0) copy.bind(values, types);
    const planningMs = performance.now() - startedAt;
    query.signal.throwIfAborted();
    await copy.run();
    return { csvPath, bytesScanned: await bytesRead(profilePath), planningMs };
  } finally {
    await rm(profilePath, { force: true });
  }
}
