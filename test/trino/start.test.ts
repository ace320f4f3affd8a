import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { accessToken } from '../../local/access-token.ts';
import type { Stack } from '../../local/stack.ts';
import { runStart } from '../clients/npm-start.ts';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { queryOf } from '../e2e/service.ts';
import { folderOfEach } from '../own-folder.ts';
import { writeTables } from '../write-events.ts';
import { declareTables } from './trino-tables.ts';

const trinoUrl = String(process.env['TEST_TRINO_URL']);

const home = folderOfEach();

it('npm start serves the events of the cluster that TRINO_URL names', async () => {
  const events = knownEvents(3, 200);
  await writeTables(join(home(), 'events'), events);
  const { schema } = await declareTables(trinoUrl, join(home(), 'events'));

  const env = { LOCAL_DIR: join(home(), 'state'), TRINO_URL: trinoUrl, TRINO_SCHEMA: schema };
  const { child, output, exitCode } = runStart(env);
  await expect.poll(output, { timeout: 30_000 }).toContain('Ctrl-C');
  const stack = JSON.parse(await readFile(join(home(), 'state', 'stack.json'), 'utf8')) as Stack;
  const question: Question = {
    fields: ['Day', 'DeviceOrProxy', 'Opens', 'Revenue'],
    start: '2026-01-01T00:00:00Z',
    end: '2026-02-01T00:00:00Z',
    filters: { DeviceOrProxy: ['phone', `O'Brien" OR 1=1 --`] },
  };
  const response = await fetch(`${stack.apiUrl}/reporting/publisherperformance?${queryOf(question)}`, {
    headers: { Authorization: `Bearer ${await accessToken(stack)}` },
  });
  expect(await response.text()).toBe(
    expectedReport('publisherperformance', events.publisher_events, question),
  );
  child.kill('SIGINT');
  expect(await exitCode).toBe(0);
});

it.each([
  [
    'a schema without the tables',
    { TRINO_SCHEMA: 'nope' },
    /^TRINO_URL: SCHEMA_NOT_FOUND: .* where the tables are\.\n$/,
  ],
  [
    'no cluster',
    { TRINO_URL: 'http://127.0.0.1:1' },
    /^TRINO_URL: http:\/\/127\.0\.0\.1:1 can't be asked: .*\n$/,
  ],
  [
    'both settings',
    { EVENTS_DIR: '/tmp' },
    /^TRINO_URL: can't be set beside EVENTS_DIR\. Unset one of them\.\n$/,
  ],
])('npm start says in one line what is wrong if it finds %s', async (_, env, message) => {
  const { output, exitCode } = runStart({ LOCAL_DIR: home(), TRINO_URL: trinoUrl, ...env });
  expect(await exitCode).toBe(1);
  expect(output()).toMatch(message);
});
