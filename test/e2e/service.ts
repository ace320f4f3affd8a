import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { accessToken } from '../../local/access-token.ts';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import type { OpenEngine } from '../../local/athena/query-engine.ts';
import { type Stack, type StackOptions, startStack } from '../../local/stack.ts';
import { startDeployed } from '../deployed/deployed-service.ts';
import { currentLane } from '../deployed/lane.ts';
import { keptLog } from '../kept-log.ts';
import { faultsOfResponse } from '../openapi/response-validator.ts';
import { trinoOver } from '../trino/trino-tables.ts';
import { writeTables } from '../write-events.ts';
import type { Question } from './expected-report.ts';
import type { KnownEvents } from './known-events.ts';
import { startValidatingProxy } from './validating-proxy.ts';

/**
 * A service on events that a test made, and a caller with a valid token. The service is the one-machine stack or, with
 * `npm run test:deployed`, a deployed stage. `apiUrl` leads to a proxy that checks every answer against the OpenAPI
 * document.
 */
export interface Service {
  readonly stack: Stack;
  /** The directory of the lake's files on this machine; empty if a deployed stage has the files. */
  readonly eventsDirectory: string;
  /** The URL of the gateway itself, without the proxy. */
  readonly gatewayUrl: string;
  readonly token: string;
  /** The first response of a report route; the redirect is not followed. */
  request(report: string, query: string, init?: RequestInit): Promise<Response>;
  /** What a caller with this token gets if it follows redirects. */
  answerTo(token: string, report: string, question: Question): Promise<{ status: number; body: string }>;
  /** The report's CSV, by a plain GET that follows redirects. Throws the status and the text of a failure. */
  pull(report: string, question: Question, extra?: string): Promise<string>;
  close(): Promise<void>;
}

/** The bundled functions, as they are deployed. `npm run test:e2e` uses them. */
const bundled = (name: string) => new URL(`../../dist/${name}/index.mjs`, import.meta.url);
const functions = process.env['FUNCTIONS'] === 'bundled' ? { functionModule: bundled } : {};

/** The engine of the end-to-end suite: DuckDB or, with `npm run test:trino`, the Trino that this command starts. */
const engineOver = (eventsDirectory: string): OpenEngine => {
  const trinoUrl = process.env['TEST_TRINO_URL'];
  return trinoUrl ? trinoOver(trinoUrl, eventsDirectory) : duckDbOn(eventsDirectory);
};

export async function startService(
  events: KnownEvents,
  options: Partial<StackOptions> = {},
): Promise<Service> {
  const lane = currentLane();
  if (lane) {
    const { stack, gatewayUrl } = await startDeployed(lane, events, options);
    return serviceOf({ stack, eventsDirectory: '', gatewayUrl, close: () => stack.close() });
  }
  const home = await mkdtemp(join(tmpdir(), 'performance-reports-'));
  const eventsDirectory = join(home, 'events');
  await writeTables(eventsDirectory, events);
  const started = await startStack({
    openEngine: engineOver(eventsDirectory),
    eventsDirectory,
    directory: join(home, 'run'),
    port: 0,
    log: keptLog,
    // A busy machine must not refuse a test's clients, so all requests are admitted.
    admitsAll: true,
    ...functions,
    ...options,
  });
  const proxy = await startValidatingProxy(started.apiUrl);
  return serviceOf({
    stack: { ...started, apiUrl: proxy.url },
    eventsDirectory,
    gatewayUrl: started.apiUrl,
    async close() {
      await started.close();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
      await proxy.close();
    },
  });
}

/** A service for all tests of a file. It is closed after the last. */
export async function ownService(...given: Parameters<typeof startService>): Promise<Service> {
  const service = await startService(...given);
  afterAll(() => service.close());
  return service;
}

type RunningService = Pick<Service, 'stack' | 'eventsDirectory' | 'gatewayUrl' | 'close'>;

async function serviceOf({ stack, eventsDirectory, gatewayUrl, close }: RunningService): Promise<Service> {
  const token = await accessToken(stack);
  const request = async (report: string, query: string, init: RequestInit = {}) => {
    const path = `/reporting/${report}`;
    const response = await fetch(`${stack.apiUrl}${path}?${query}`, {
      redirect: 'manual',
      // Most tests read the plain file; the tests of gzip set their own headers.
      headers: { Authorization: `Bearer ${token}`, Accept: 'text/csv', 'Accept-Encoding': 'identity' },
      ...init,
    });
    // The download comes from S3, not through the proxy, so it is checked here.
    if (response.redirected && response.status === 200) await expectDocumented(path, response.clone());
    return response;
  };
  return {
    stack,
    eventsDirectory,
    gatewayUrl,
    token,
    request,
    async answerTo(caller, report, question) {
      const headers = { Authorization: `Bearer ${caller}` };
      const response = await request(report, queryOf(question), { redirect: 'follow', headers });
      return { status: response.status, body: await response.text() };
    },
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
