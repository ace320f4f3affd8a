import { setTimeout as pause } from 'node:timers/promises';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { QueryFailure, QueryScanLimitExceeded } from '../athena/query-engine.ts';

/** One of the answers that a statement gets in Trino's protocol. Numbers are texts, with all their digits. */
export interface Page {
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
export const bytesScannedIn = ({ stats }: Page): number => Number(stats['physicalInputBytes'] ?? 0);

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

/** The headers of every call to the cluster. */
const headersOf = ({ user, password, catalog, schema }: TrinoCluster): Record<string, string> => ({
  'X-Trino-User': user,
  'X-Trino-Source': 'performance-reports',
  'X-Trino-Catalog': catalog,
  'X-Trino-Schema': schema,
  'X-Trino-Time-Zone': 'UTC',
  ...(password && { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }),
});
