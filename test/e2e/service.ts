import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessToken } from '../../local/access-token.ts';
import { type EventRow as WrittenRow, writeEvents } from '../../local/events/write-events.ts';
import { type Stack, type StackOptions, startStack } from '../../local/stack.ts';
import { startDeployed } from '../deployed/deployed-service.ts';
import { SLOWNESS } from '../deployed/emulator-faults.ts';
import { currentLane } from '../deployed/lane.ts';
import { keptLog } from '../kept-log.ts';
import { faultsOfResponse } from '../openapi/response-validator.ts';
import { engineOver } from './engine.ts';
import type { Question } from './expected-report.ts';
import type { KnownEvents } from './known-events.ts';
import { startValidatingProxy } from './validating-proxy.ts';

/**
 * The one-machine stack, or by `npm run test:deployed` a deployed stage, on events that a test made, and a caller with
 * a good token. Its `apiUrl` leads through a proxy that checks every answer against the OpenAPI document.
 */
export interface Service {
  readonly stack: Stack;
  /** Where the lake's files lie on this machine; empty where a deployed stage has them. */
  readonly eventsDirectory: string;
  /** The gateway itself, without the proxy. */
  readonly gatewayUrl: string;
  readonly token: string;
  /** How much longer the service's waits and slow queries are than a test sets them. */
  readonly slowness: number;
  /** The first response of a report route, the redirect not followed. */
  request(report: string, query: string, init?: RequestInit): Promise<Response>;
  /** The report's CSV, by a plain GET that follows redirects; throws the problem if one is answered instead. */
  pull(report: string, question: Question, extra?: string): Promise<string>;
  close(): Promise<void>;
}

/** Set by `npm run test:e2e`: the functions as they are deployed. */
const bundled = (name: string) => new URL(`../../dist/${name}/index.mjs`, import.meta.url);
const functions = process.env['FUNCTIONS'] === 'bundled' ? { functionModule: bundled } : {};

export async function startService(
  events: KnownEvents,
  options: Partial<StackOptions> = {},
): Promise<Service> {
  const lane = currentLane();
  if (lane) {
    const { stack, gatewayUrl } = await startDeployed(lane, events, options);
    return serviceOf({
      stack,
      eventsDirectory: '',
      gatewayUrl,
      slowness: SLOWNESS,
      close: () => stack.close(),
    });
  }
  const home = await mkdtemp(join(tmpdir(), 'performance-reports-'));
  const eventsDirectory = join(home, 'events');
  for (const [table, rows] of Object.entries(events))
    await writeEvents(eventsDirectory, table, rows as unknown as WrittenRow[]);
  const started = await startStack({
    openEngine: engineOver(eventsDirectory),
    eventsDirectory,
    directory: join(home, 'run'),
    port: 0,
    log: keptLog,
    // A test's clients are no load: a busy machine must not turn them away.
    admitsAll: true,
    ...functions,
    ...options,
  });
  const proxy = await startValidatingProxy(started.apiUrl);
  return serviceOf({
    stack: { ...started, apiUrl: proxy.url },
    eventsDirectory,
    gatewayUrl: started.apiUrl,
    slowness: 1,
    async close() {
      await started.close();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
      await proxy.close();
    },
  });
}

type RunningService = Pick<Service, 'stack' | 'eventsDirectory' | 'gatewayUrl' | 'slowness' | 'close'>;

async function serviceOf({
  stack,
  eventsDirectory,
  gatewayUrl,
  slowness,
  close,
}: RunningService): Promise<Service> {
  const token = await accessToken(stack);
  const request = async (report: string, query: string, init: RequestInit = {}) => {
    const path = `/reporting/${report}`;
    const response = await fetch(`${stack.apiUrl}${path}?${query}`, {
      redirect: 'manual',
      // Plain, as most tests read it; the tests of gzip set their own headers.
      headers: { Authorization: `Bearer ${token}`, Accept: 'text/csv', 'Accept-Encoding': 'identity' },
      ...init,
    });
    // The download does not come through the proxy.
    if (response.redirected && response.status === 200) await expectDocumented(path, response.clone());
    return response;
  };
  return {
    stack,
    eventsDirectory,
    gatewayUrl,
    token,
    slowness,
    request,
    async pull(report, question, extra = '') {
      const response = await request(report, queryOf(question) + extra, { redirect: 'follow' });
      const body = await response.text();
      if (!response.ok) throw new Error(`${response.status}: ${body}`);
      return body;
    },
    close,
  };
}

async function expectDocumented(path: string, response: Response): Promise<void> {
  const { status } = response;
  const headers = Object.fromEntries(response.headers);
  const body = Buffer.from(await response.arrayBuffer());
  const faults = await faultsOfResponse({ method: 'GET', path, status, headers, body });
  if (faults.length > 0) throw new Error(`${path} ${status}: ${faults.join('; ')}`);
}

/** A question as a query string. */
export function queryOf({ fields, start, end, filters = {} }: Question): string {
  const query = new URLSearchParams({
    requestedFields: fields.join(','),
    startInclusive: start,
    endExclusive: end,
    'api-version': '1.0',
  });
  for (const [field, values] of Object.entries(filters))
    for (const value of values) query.append(`filter[${field}]`, value);
  return query.toString();
}
