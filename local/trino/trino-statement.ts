import { setTimeout as pause } from 'node:timers/promises';
import { QueryFailure } from '../athena/query-failure.ts';
import { QueryScanLimitExceeded } from '../athena/run-query.ts';
import { headersOf, type TrinoCluster } from './trino-cluster.ts';

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
