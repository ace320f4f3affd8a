import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { type Column, type ColumnType, PARTITION_COLUMN, tables } from '../../lib/report/tables.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { type OpenEngine, type Query, QueryFailure, QueryScanLimitExceeded } from '../athena/query-engine.ts';

/** A Trino cluster: its address, its user, and the place of the data contract's tables. */
export interface TrinoCluster {
  readonly url: string;
  readonly user: string;
  readonly password?: string | undefined;
  readonly catalog: string;
  readonly schema: string;
}

/**
 * The cluster that the environment names. Undefined without `TRINO_URL`. Throws an OperatorFault if `TRINO_URL` is not
 * an HTTP URL, or would send a password without TLS.
 */
export function clusterOf(env: NodeJS.ProcessEnv): TrinoCluster | undefined {
  const url = env['TRINO_URL'];
  if (!url) return undefined;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new OperatorFault(`"${url}" is no address. Set it to one like http://trino.example:8080.`);
  if (env['TRINO_PASSWORD'] && !/^https:/i.test(url))
    throw new OperatorFault(
      `"${url}" would send TRINO_PASSWORD without TLS. Set it to an https: URL, or unset TRINO_PASSWORD.`,
    );
  return {
    url,
    user: env['TRINO_USER'] || 'performance-reports',
    password: env['TRINO_PASSWORD'],
    catalog: env['TRINO_CATALOG'] || 'hive',
    schema: env['TRINO_SCHEMA'] || 'performance_reports',
  };
}

/** The smallest quota of running queries that Athena gives an account. A cluster has its own queue. */
const MAX_RUNNING = 20;

/**
 * Opens a Trino cluster (418 or later) as the engine. Rejects with an OperatorFault if it can't be reached or lacks
 * the tables.
 */
export const trinoOn =
  (cluster: TrinoCluster): OpenEngine =>
  async ({ scratchDirectory }) => {
    await checkTables(cluster);
    await mkdir(scratchDirectory, { recursive: true });
    return {
      maxRunning: MAX_RUNNING,
      close() {},
      async run(query) {
        const csvPath = join(scratchDirectory, `${query.id}.csv`);
        let last: Page = { stats: {} };
        async function* lines(): AsyncGenerator<string> {
          let named = false;
          for await (const page of pagesOf(cluster, statementOf(query), query.signal)) {
            last = page;
            if (page.columns && !named) yield csvLine(page.columns.map(({ name }) => name));
            named ||= page.columns !== undefined;
            if (page.data) yield page.data.map(csvLine).join('');
          }
        }
        // The file is opened before the pipeline: a stream might open it only after a failure has removed the file,
        // and so create it again.
        const file = await open(csvPath, 'w');
        try {
          await pipeline(lines, file.createWriteStream());
        } catch (error) {
          await rm(csvPath, { force: true });
          throw error;
        }
        return { csvPath, bytesScanned: bytesScannedIn(last) };
      },
    };
  };

/** A query and its parameters as one statement. Refuses all but a SELECT: the cluster belongs to the operator. */
function statementOf({ sql, parameters }: Query): string {
  if (!/^\s*(SELECT|WITH)\b/i.test(sql))
    throw new QueryFailure('SYNTAX_ERROR', 'line 1:1: Only a SELECT can run');
  const text = sql.replace(/;\s*$/, '');
  // As in Athena, parameters are left out if the statement takes none.
  if (parameters.length === 0 || !text.includes('?')) return text;
  // The line break ends a comment at the end of an expression. Without it, the comment would contain the bracket.
  const values = parameters.map((expression) => `(${expression}\n)`);
  return `EXECUTE IMMEDIATE ${quoteText(text)} USING ${values.join(', ')}`;
}

/**
 * A row in Athena's CSV. All values but NULL are quoted, quotes are doubled, and the line ends with LF. Numbers arrive
 * as text.
 */
const csvLine = (values: readonly unknown[]): string => `${values.map(csvValue).join(',')}\n`;

const csvValue = (value: unknown): string =>
  value === null ? '' : `"${String(value).replaceAll('"', '""')}"`;

/** The column types with which reports are exact to the last digit, by their names in Trino's protocol. */
const FITTING: Readonly<Record<ColumnType, RegExp>> = {
  timestamp: /^timestamp(\(\d+\))?$/,
  bigint: /^bigint$/,
  varchar: /^varchar(\(\d+\))?$/,
  'decimal(18,6)': /^decimal\(\d+, ?6\)$/,
};

/** Rejects with an OperatorFault if a table of the data contract is missing in the cluster or wrong. */
async function checkTables(cluster: TrinoCluster): Promise<void> {
  for (const table of tables) {
    const columns: Pick<Column, 'name' | 'type'>[] = [
      ...table.columns,
      { name: PARTITION_COLUMN, type: 'varchar' },
    ];
    const names = columns.map(({ name }) => quoteName(name)).join(', ');
    let types: string[] = [];
    try {
      for await (const page of pagesOf(cluster, `SELECT ${names} FROM ${table.name} LIMIT 0`))
        types = page.columns?.map(({ type }) => type) ?? types;
    } catch (error) {
      const { message, cause } = error as Error;
      throw new OperatorFault(
        error instanceof QueryFailure
          ? `${message}. Set TRINO_CATALOG and TRINO_SCHEMA to where the tables are.`
          : `${cluster.url} can't be asked: ${cause instanceof Error ? cause.message : message}`,
      );
    }
    for (const [index, { name, type }] of columns.entries())
      if (!FITTING[type].test(types[index] ?? ''))
        throw new OperatorFault(
          `${table.name} holds ${name} as ${types[index]}; the data contract has ${type}.`,
        );
  }
}

/** One of the answers that a statement gets in Trino's protocol. Numbers are texts, with all their digits. */
interface Page {
  /** The URL of the next answer; the last one has none. */
  readonly nextUri?: string;
  readonly columns?: readonly { readonly name: string; readonly type: string }[];
  readonly data?: readonly (readonly unknown[])[];
  readonly stats: Readonly<Record<string, string | undefined>>;
  readonly error?: TrinoError;
}

/** Statuses of a coordinator under load, or of its load balancer. In Trino's protocol, the client then tries again. */
const TRY_AGAIN = [429, 502, 503, 504];
const MAX_TRIES = 20;
const PAUSE_MS = 100;

const CANCEL_MS = 5_000;

/**
 * Runs a statement and yields its pages as they come. Throws a QueryFailure in Athena's words. The statement is
 * cancelled if the caller leaves the loop early or aborts. The password goes to the cluster's own address alone.
 */
export async function* pagesOf(
  cluster: TrinoCluster,
  sql: string,
  signal?: AbortSignal,
): AsyncGenerator<Page> {
  const headers = headersOf(cluster);
  const options: RequestInit = { headers, redirect: 'manual', ...(signal && { signal }) };
  const statements = new URL('/v1/statement', cluster.url).href;
  let page = await call(statements, { ...options, method: 'POST', body: sql });
  try {
    for (;;) {
      if (page.error) throw failureOf(page.error, bytesScannedIn(page));
      yield page;
      if (!page.nextUri) return;
      if (cluster.password && new URL(page.nextUri).origin !== new URL(cluster.url).origin) {
        const elsewhere = new URL(page.nextUri).origin;
        page = { stats: {} };
        throw new Error(
          `Trino leads to ${elsewhere}, which must not get the password. Set TRINO_URL to that address, or ` +
            'http-server.process-forwarded=true in the cluster',
        );
      }
      page = await call(page.nextUri, options);
    }
  } finally {
    if (page.nextUri) await cancel(page.nextUri, headers);
  }
}

/** The bytes that a statement has read so far, without those from caches in memory. */
const bytesScannedIn = ({ stats }: Page): number => Number(stats['physicalInputBytes'] ?? 0);

async function call(url: string, init: RequestInit): Promise<Page> {
  for (let tried = 1; ; tried++) {
    const response = await fetch(url, init);
    if (response.ok) return JSON.parse(await response.text(), exactly) as Page;
    const reason = (await response.text()).trim().split('\n', 1)[0];
    if (!TRY_AGAIN.includes(response.status) || tried === MAX_TRIES)
      throw new Error(`Trino answers ${response.status} ${reason}`);
    await pause(PAUSE_MS, undefined, init.signal ? { signal: init.signal } : {});
  }
}

/** A number as the text of the JSON: as a double, a bigint would lose digits. */
const exactly = (_key: string, value: unknown, { source }: { source?: string } = {}): unknown =>
  typeof value === 'number' ? source : value;

const cancel = (url: string, headers: Record<string, string>): Promise<unknown> =>
  // A statement that can't be cancelled ends too: Trino abandons a statement that no client polls any more.
  fetch(url, { method: 'DELETE', headers, redirect: 'manual', signal: AbortSignal.timeout(CANCEL_MS) }).catch(
    () => {},
  );

/**
 * The types of errors that the cluster causes and not the query: a node is lost, or memory is short. The same query may
 * succeed a moment later. If Trino itself retries queries (`retry-policy=QUERY`), it retries after such errors too.
 */
const RETRYABLE: readonly string[] = ['INTERNAL_ERROR', 'INSUFFICIENT_RESOURCES'];

/** An error in Trino's protocol. */
interface TrinoError {
  readonly message: string;
  readonly errorName: string;
  readonly errorType: string;
}

/**
 * The failure that Athena would report for an error of Trino, in one line. It keeps Trino's name and message. The
 * cluster's scan limit is the exception: Athena calls such a query cancelled, not failed.
 */
function failureOf(
  { message, errorName, errorType }: TrinoError,
  bytesScanned: number,
): QueryFailure | QueryScanLimitExceeded {
  if (errorName === 'EXCEEDED_SCAN_LIMIT') return new QueryScanLimitExceeded(bytesScanned);
  const [summary = ''] = message.split('\n', 1);
  return new QueryFailure(errorName, summary, {
    fault: errorType === 'USER_ERROR' ? 'user' : 'system',
    retryable: RETRYABLE.includes(errorType),
  });
}

/** The headers of every call to the cluster. */
const headersOf = ({ user, password, catalog, schema }: TrinoCluster): Record<string, string> => ({
  'X-Trino-User': user,
  'X-Trino-Source': 'performance-reports',
  'X-Trino-Catalog': catalog,
  'X-Trino-Schema': schema,
  'X-Trino-Time-Zone': 'UTC',
  ...(password && { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }),
});
