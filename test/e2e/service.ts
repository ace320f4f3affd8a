import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventRow as WrittenRow, writeEvents } from '../../local/events/write-events.ts';
import { type Stack, type StackOptions, startStack } from '../../local/stack.ts';
import { engineOver } from './engine.ts';
import type { Question } from './expected-report.ts';
import type { KnownEvents } from './known-events.ts';

/** The one-machine stack on events that a test made, and a caller with a good token. */
export interface Service {
  readonly stack: Stack;
  readonly token: string;
  /** The first response of a report route, the redirect not followed. */
  request(report: string, query: string, init?: RequestInit): Promise<Response>;
  /** The report's CSV, by the plain GET of a client that follows redirects; throws the problem if it is none. */
  pull(report: string, question: Question, extra?: string): Promise<string>;
  close(): Promise<void>;
}

export async function startService(
  events: KnownEvents,
  options: Partial<StackOptions> = {},
): Promise<Service> {
  const home = await mkdtemp(join(tmpdir(), 'performance-reports-'));
  const eventsDirectory = join(home, 'events');
  for (const [table, rows] of Object.entries(events))
    await writeEvents(eventsDirectory, table, rows as unknown as WrittenRow[]);
  const stack = await startStack({
    openEngine: engineOver(eventsDirectory),
    directory: join(home, 'run'),
    port: 0,
    ...options,
  });
  const token = await accessToken(stack);

  const request = (report: string, query: string, init: RequestInit = {}) =>
    fetch(`${stack.apiUrl}/reporting/${report}?${query}`, {
      redirect: 'manual',
      headers: { Authorization: `Bearer ${token}`, Accept: 'text/csv' },
      ...init,
    });
  return {
    stack,
    token,
    request,
    async pull(report, question, extra = '') {
      const response = await request(report, queryOf(question) + extra, { redirect: 'follow' });
      const body = await response.text();
      if (!response.ok) throw new Error(`${response.status}: ${body}`);
      return body;
    },
    async close() {
      await stack.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

export async function accessToken({ tokenUrl, clientId, clientSecret, scope }: Stack): Promise<string> {
  const response = await fetch(tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope,
    }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
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
