import { mkdir, readFile, realpath, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { tables } from '../../lib/report/tables.ts';
import { type Events, openEvents } from '../events/open-events.ts';
import {
  type ErrorName,
  type OpenEngine,
  type Query,
  QueryFailure,
  type QueryOutcome,
} from './query-engine.ts';

const CORES = availableParallelism();

/** The number of threads in Node.js's pool. Each query holds a thread, and all file access needs one. */
const THREADS = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);

/** At most one query per core runs. Two threads stay free, or file access would wait for a query to end. */
const MAX_RUNNING = Math.max(1, Math.min(CORES, THREADS - 2));

/** Athena's CSV: all values but NULL are quoted, timestamps have milliseconds. */
const CSV_OPTIONS = `FORMAT csv, HEADER, FORCE_QUOTE *, TIMESTAMPFORMAT '%Y-%m-%d %H:%M:%S.%g'`;

/**
 * DuckDB on a directory of events, as the engine of a stack. To open it rejects with an OperatorFault if the events
 * can't be served.
 */
export const duckDbOn =
  (directory: string, told: Pick<Events, 'onWarning' | 'onProgress'> = {}): OpenEngine =>
  async (place) => {
    const scratchDirectory = resolve(place.scratchDirectory);
    const { instance, events } = await openInstance({ ...place, ...told, directory, scratchDirectory });
    let running = 0;
    return {
      maxRunning: MAX_RUNNING,
      close: () => instance.closeSync(),
      async run(query) {
        const connection = await instance.connect();
        const csvPath = join(scratchDirectory, `${query.id}.csv`);
        running += 1;
        try {
          // A query that runs alone uses all cores. If several queries run, each uses one core: to split a query over
          // cores costs a tenth of the query's time.
          await connection.run(`SET GLOBAL threads = ${running > 1 ? 1 : CORES}`);
          using _interrupting = interruptOn(query.signal, connection);
          await connection.run(`USE ${quoteName(place.database)}`);
          for (let tries = 1; ; tries++)
            try {
              await events.follow(connection, query.sql);
              return await copyResult(connection, query, csvPath);
            } catch (error) {
              // A file was removed after it was listed.
              if (tries === TRIES || !/No files found that match/.test((error as Error).message)) throw error;
            }
        } catch (error) {
          await rm(csvPath, { force: true });
          throw failureOf(error as Error);
        } finally {
          running -= 1;
          connection.closeSync();
        }
      },
    };
  };

async function copyResult(
  connection: DuckDBConnection,
  query: Query,
  csvPath: string,
): Promise<QueryOutcome> {
  const sql = query.sql.replace(/;\s*$/, '');
  // The SQL is parsed by itself first: inside `COPY (…)`, a text with a closing bracket could run another statement.
  const { count } = await connection.extractStatements(sql);
  if (count !== 1) throw new QueryFailure('INVALID_FUNCTION_ARGUMENT', 'Only one SQL statement is allowed');
  const profilePath = `${csvPath}.profile.json`;
  try {
    // Each statement writes its profile to the file, in place of the previous one. The order of the settings matters:
    // DuckDB checks the file's extension against the format that is already set.
    await connection.run(
      `SET enable_profiling = 'json';
       SET profiling_output = ${quoteText(profilePath)};
       SET custom_profiling_settings = '{"TOTAL_BYTES_READ": "true"}'`,
    );
    const copy = `COPY (${sql}\n) TO ${quoteText(csvPath)} (${CSV_OPTIONS})`;
    await connection.run(`PREPARE copy_result AS ${copy}`);
    query.signal.throwIfAborted();
    // As in Athena, a statement that takes no parameters ignores them. The line break ends a comment at the end of an
    // expression. Without it, the comment would contain the bracket.
    const parameters = sql.includes('?') ? query.parameters.map((text) => `(${text}\n)`) : [];
    const list = parameters.length > 0 ? `(${parameters.join(', ')})` : '';
    await connection.run(`EXECUTE copy_result${list}`);
    const profile = JSON.parse(await readFile(profilePath, 'utf8'));
    return { csvPath, bytesScanned: profile.total_bytes_read };
  } finally {
    await rm(profilePath, { force: true });
  }
}

const TRIES = 3;

const INTERVAL_MS = 20;

/**
 * Once the signal is aborted, interrupts every statement of the connection, until the returned object is disposed of.
 * One interrupt is not enough: DuckDB forgets an interrupt that comes between two statements, or before a statement
 * has a thread.
 */
function interruptOn(signal: AbortSignal, connection: DuckDBConnection): Disposable {
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    connection.interrupt();
    timer ??= setInterval(interrupt, INTERVAL_MS);
  };
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  return {
    [Symbol.dispose]() {
      signal.removeEventListener('abort', interrupt);
      clearInterval(timer);
    },
  };
}

/** The settings that a connection changes to have its queries profiled. */
const PROFILING_SETTINGS = ['enable_profiling', 'profiling_output', 'custom_profiling_settings'] as const;

/**
 * Opens DuckDB on a directory of events, and creates the scratch directory, which is also for data that DuckDB spills
 * from memory. Sets DuckDB to behave like Trino where the two would silently differ. Locks DuckDB, so that a query can
 * reach only the events and the scratch directory. Rejects with an OperatorFault if the events can't be served.
 */
async function openInstance(options: Events) {
  const { directory, scratchDirectory } = options;
  await mkdir(scratchDirectory, { recursive: true });
  const instance = await DuckDBInstance.create(':memory:', {
    // In Trino, the quotient of two integers is an integer.
    integer_division: 'true',
    temp_directory: join(scratchDirectory, 'spilled'),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    // DuckDB does not count bytes that come from this cache as scanned.
    enable_external_file_cache: 'false',
  });
  const connection = await instance.connect();
  try {
    await connection.run("SET GLOBAL TimeZone = 'UTC'");
    // DuckDB counts the bytes of Parquet data only if it reads them ahead. By default, it does not read local files
    // ahead.
    await connection.run('SET GLOBAL prefetch_all_parquet_files = true');
    const events = await openEvents(connection, options);
    // DuckDB judges by real paths. The folders of the lake and of its tables may be links.
    const folders = ['.', ...tables.map(({ name }) => name)].map((name) => resolve(directory, name));
    const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
    const reachable = [...real, scratchDirectory].map(quoteText);
    await connection.run(`SET GLOBAL allowed_directories = [${reachable.join(', ')}]`);
    await connection.run('SET GLOBAL enable_external_access = false');
    const changeable = [...PROFILING_SETTINGS, 'schema', 'threads'].map(quoteText);
    await connection.run(`SET GLOBAL allowed_configs = [${changeable.join(', ')}]`);
    await connection.run('SET GLOBAL lock_configuration = true');
    return { instance, events };
  } catch (error) {
    instance.closeSync();
    throw error;
  } finally {
    connection.closeSync();
  }
}

/** DuckDB's kinds of errors, by the beginning of their messages: the binding for Node.js passes on nothing else. */
const KINDS: readonly (readonly [beginning: RegExp, name: ErrorName])[] = [
  [/^Parser Error: /, 'SYNTAX_ERROR'],
  [/^Catalog Error: (?=.*\bFunction\b)/, 'FUNCTION_NOT_FOUND'],
  [/^Catalog Error: /, 'TABLE_NOT_FOUND'],
  [/^Binder Error: /, 'SYNTAX_ERROR'],
  [/^Conversion Error: /, 'INVALID_CAST_ARGUMENT'],
  [/^Out of Range Error: /, 'NUMERIC_VALUE_OUT_OF_RANGE'],
  // The views of the events throw this error.
  [/^Invalid Input Error: HIVE_BAD_DATA: /, 'HIVE_BAD_DATA'],
  [/^Invalid Input Error: (?=Values were not provided|Parameter argument)/, 'INVALID_PARAMETER_USAGE'],
  [/^Invalid Input Error: (?=Only scalar parameters)/, 'SYNTAX_ERROR'],
  [/^Invalid Input Error: /, 'INVALID_FUNCTION_ARGUMENT'],
  [/^Not implemented Error: /, 'NOT_SUPPORTED'],
  [/^Permission Error: /, 'PERMISSION_DENIED'],
  [/^Out of Memory Error: /, 'EXCEEDED_LOCAL_MEMORY_LIMIT'],
];

/** The failure that Athena would report for an error of DuckDB's, in one line. */
function failureOf(error: Error): QueryFailure {
  if (error instanceof QueryFailure) return error;
  const [line = ''] = error.message.split('\n', 1);
  const summary = line.replace(/^Failed to extract statements: /, '');
  const kind = KINDS.find(([beginning]) => beginning.test(summary));
  if (!kind) return new QueryFailure('GENERIC_INTERNAL_ERROR', summary, { cause: error });
  const [beginning, name] = kind;
  return new QueryFailure(name, summary.replace(beginning, ''), { cause: error });
}
