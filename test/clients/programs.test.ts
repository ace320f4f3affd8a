import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ENV } from '../../lib/names.ts';
import { expectedReport } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { type Service, startService } from '../e2e/service.ts';
import { pythonWithPackages } from './python.ts';
import { isHere, runProgram } from './run-program.ts';
import { snippetNames, writeSnippet } from './snippet.ts';

/** What the guide filters by. */
const DEVICES: Readonly<Record<string, string>> = { phone: 'Mobile', desktop: 'Tablet' };
const events = knownEvents(7, 3_000);
const publisherEvents = events.publisher_events.map((row) => ({
  ...row,
  device_or_proxy: DEVICES[String(row['device_or_proxy'])] ?? row['device_or_proxy'] ?? null,
}));
const question = {
  fields: ['Day', 'PublisherAccountId', 'Clicks', 'Revenue'],
  start: '2026-01-01T00:00:00Z',
  end: '2026-02-01T00:00:00Z',
};
const reportOf = (devices: string[], more = {}) =>
  expectedReport('publisherperformance', publisherEvents, {
    ...question,
    ...more,
    ...(devices.length > 0 && { filters: { DeviceOrProxy: devices } }),
  });
const expected = reportOf(['Mobile', 'Tablet']);

let service: Service;
let directory: string;
const hasJava = await isHere('java', '--version');
const python = await pythonWithPackages();

beforeAll(async () => {
  // The lake is not listed, so that every request is a query of its own; each takes longer than one request waits.
  service = await startService(
    { ...events, publisher_events: publisherEvents },
    { eventsDirectory: undefined, functionEnv: { [ENV.queryWaitMs]: '400' } },
  );
  service.stack.faults.set([{ on: 'query', delayMs: 1_000 }]);
});
afterAll(() => service.close());
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'performance-reports-client-'));
  return () => rm(directory, { recursive: true, force: true });
});

const environment = () => ({
  API_URL: service.stack.apiUrl,
  TOKEN_URL: service.stack.tokenUrl,
  CLIENT_ID: service.stack.clientId,
  CLIENT_SECRET: service.stack.clientSecret,
  SCOPE: service.stack.scope,
  TOKEN: service.token,
});
/** Runs a program of the guide in an empty directory; resolves to what it printed. */
const run = async (name: string, command: string, ...parameters: string[]) =>
  runProgram(command, [await writeSnippet(name, directory), ...parameters], {
    cwd: directory,
    env: environment(),
  });
const savedReport = () => readFile(join(directory, 'report.csv'), 'utf8');

describe('the programs of docs/clients.md', () => {
  it('are all run here', () => {
    expect(snippetNames).toEqual([
      'pull-report.sh',
      'pull-by-url.sh',
      'pull_report.py',
      'pull-report.mjs',
      'pull-report.ts',
      'pull-several.ts',
      'Pull.java',
      'pull-daily.sh',
    ]);
  });

  it.each([
    ['curl', 'pull-report.sh', 'sh'],
    ['curl -g', 'pull-by-url.sh', 'sh'],
    ['fetch', 'pull-report.mjs', process.execPath],
  ])('pull the report with %s', async (_, name, command) => {
    await run(name, command);
    expect(await savedReport()).toBe(expected);
  });

  it.runIf(hasJava)('pull the report with Java', async () => {
    await run('Pull.java', 'java');
    expect(await savedReport()).toBe(expected);
  });

  it.runIf(python)('pull the report with Python, every value as it is', async () => {
    const rows = expected
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((row) => row.split(','));
    const micros = (amount = '') => BigInt(amount.replace('.', ''));
    const clicks = rows.reduce((sum, [, , count]) => sum + BigInt(count ?? 0), 0n);
    const revenue = rows.reduce((sum, [, , , amount]) => sum + micros(amount), 0n);
    const [length, printedClicks, printedRevenue] = (await run('pull_report.py', python as string)).split(
      /\s/,
    );
    expect(Number(length)).toBe(rows.length);
    expect(BigInt(printedClicks ?? 0)).toBe(clicks);
    expect(micros(printedRevenue)).toBe(revenue);
  });

  it('pull a day with the cron job, by default yesterday, and leave no half file', async () => {
    await run('pull-daily.sh', 'sh', directory, '2026-01-02');
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    await run('pull-daily.sh', 'sh', directory);
    const files = ['publisher-2026-01-02.csv', `publisher-${yesterday}.csv`];
    expect((await readdir(directory)).filter((file) => file !== 'pull-daily.sh')).toEqual(files);
    const [csv, empty] = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
    expect(csv).toBe(reportOf([], { start: '2026-01-02T00:00:00Z', end: '2026-01-03T00:00:00Z' }));
    expect(empty).toBe('"Day","PublisherAccountId","Clicks","Revenue"\n');
  });

  it('say what is wrong when the cron job fails, and leave no file', async () => {
    await expect(run('pull-daily.sh', 'sh', directory, '9999-12-31')).rejects.toThrow();
    expect(await readdir(directory)).toEqual(['pull-daily.sh']);
  });
});

describe('a client generated by openapi-typescript and openapi-fetch', () => {
  const project = new URL('./typescript/', import.meta.url).pathname;

  it('is typed without a hand, and pulls a filtered report', async () => {
    // Inside the package, where its imports are found.
    const home = await mkdtemp(join(project, 'generated-'));
    try {
      const generator = join(project, 'node_modules/.bin/openapi-typescript');
      // Elsewhere it would take the linter's configuration for its own.
      await runProgram(generator, [`${service.stack.apiUrl}/openapi.json`, '-o', 'service.d.ts'], {
        cwd: home,
      });
      const [one, several] = [
        await writeSnippet('pull-report.ts', home),
        await writeSnippet('pull-several.ts', home),
      ];
      const compiler = join(project, 'node_modules/.bin/tsc');
      const strict = [
        '--strict',
        '--noEmit',
        '--module',
        'nodenext',
        '--target',
        'es2024',
        '--types',
        'node',
      ];
      await runProgram(compiler, [...strict, '--allowImportingTsExtensions', '--skipLibCheck', one, several]);

      const report = () => readFile(join(home, 'report.csv'), 'utf8');
      await runProgram(process.execPath, [one], { cwd: home, env: environment() });
      expect(await report()).toBe(reportOf(['Mobile']));
      await runProgram(process.execPath, [several], { cwd: home, env: environment() });
      expect(await report()).toBe(expected);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});
