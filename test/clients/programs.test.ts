import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { serve } from '../../local/serve.ts';
import { snippets } from '../../page/src/answer/snippets.ts';
import { ownService } from '../e2e/service.ts';
import { folderOfEach } from '../own-folder.ts';
import { guideEvents, guideReport } from './guide-events.ts';
import { environmentOf } from './npm-start.ts';
import { duckDbPython, INSTALL_HTTPFS, pythonWith } from './python.ts';
import { isHere, runProgram } from './run-program.ts';
import { programPages, readGuide } from './snippet.ts';

const PROGRAMS = join(import.meta.dirname, '../../docs/programs');
const guide = await readGuide(...(await programPages()), 'first-report.md');
const expected = guideReport(['Mobile', 'Tablet']);
const directory = folderOfEach();
const hasCurl = await isHere('curl', '--version');
const hasJava = await isHere('javac', '--version');
const hasR = await isHere('Rscript', '-e', 'library(curl)');
const duckDb = await duckDbPython();
const python = await pythonWith('guide-python', ['pandas==3.1.1', 'polars==2.1.0', 'requests==2.34.2']);

// Each report takes longer than a request waits, so every program goes through the waiting room.
const service = await ownService(guideEvents, { functionEnv: { QUERY_WAIT_MS: '400' } });
service.stack.faults.set([{ on: 'query', delayMs: 1_000 }]);
const environment = environmentOf(service.stack, service.token);
const run = async (name: string, [command = '', ...parameters]: readonly string[], env = {}) =>
  runProgram(command, [await guide.write(name, directory()), ...parameters], {
    cwd: directory(),
    env: { ...environment, ...env },
  });
const savedReport = () => readFile(join(directory(), 'report.csv'), 'utf8');
/** Compares a program's output (the number of rows, the sums of clicks and revenue) with the report. */
function expectSums(printed: string): void {
  const rows =
    expected
      .match(/.+/g)
      ?.slice(1)
      .map((row) => row.split(',')) ?? [];
  const micros = (amount = '') => BigInt(amount.replace('.', ''));
  const [length, clicks, revenue] = printed.split(/\s/);
  expect(Number(length)).toBe(rows.length);
  expect(BigInt(clicks ?? 0)).toBe(rows.reduce((sum, [, , count]) => sum + BigInt(count ?? 0), 0n));
  expect(micros(revenue)).toBe(rows.reduce((sum, [, , , amount]) => sum + micros(amount), 0n));
}

describe('the programs of docs/programs', () => {
  it('are those that these tests know', () => {
    expect(guide.names).toEqual([
      ...['pull-report.sh', 'pull-by-url.sh', 'pull_duckdb.py', 'Pull.java', 'pull-report.mjs'],
      ...['pull_report.py', 'pull-report.R', 'daily.mjs', 'daily.sh', 'daily.ps1'],
    ]);
  });

  it.each([
    ...(hasCurl
      ? [['curl', 'pull-report.sh', 'sh'] as const, ['curl -g', 'pull-by-url.sh', 'sh'] as const]
      : []),
    ...(hasJava ? [['Java', 'Pull.java', 'java'] as const] : []),
    ['fetch', 'pull-report.mjs', process.execPath] as const,
  ])('pull the report with %s', async (_, name, command) => {
    await run(name, [command]);
    expect(await savedReport()).toBe(expected);
  });

  it.runIf(python)('pull the report with Python: the rows and the sums are exact', async () => {
    expectSums(await run('pull_report.py', [python as string]));
  });

  it.runIf(duckDb)('pull the report with DuckDB: the rows and the sums are exact', async () => {
    const home = { HOME: directory() };
    await runProgram(duckDb as string, ['-c', INSTALL_HTTPFS], { env: home });
    expectSums(await run('pull_duckdb.py', [duckDb as string], home));
  });

  it.runIf(hasR)('pull the report with R, which keeps every value unchanged', async () => {
    await run('pull-report.R', ['Rscript']);
    const text = await readFile(join(directory(), 'report-of-r.csv'), 'utf8');
    expect(text.replaceAll('"', '')).toBe(expected.replaceAll('"', ''));
  });
});

describe('a program of docs/programs that can’t pull its report', () => {
  const wrongSecret = { CLIENT_SECRET: 'wrong' };
  const commands = [
    ...(hasCurl
      ? [['pull-report.sh', ['sh']] as const, ['daily.sh', ['sh', '.', '2026-01-01']] as const]
      : []),
    ['pull-report.mjs', [process.execPath]],
    ...(hasJava ? [['Pull.java', ['java']] as const] : []),
    ...(python ? [['pull_report.py', [python]] as const] : []),
  ] as const;

  it.each(commands)('shows the error of the identity provider: %s', async (name, command) => {
    await expect(run(name, command, wrongSecret)).rejects.toThrow('invalid_client');
  });

  it.each([...commands, ...(python ? [['incremental_pull.py', [python, 'x']] as const] : [])])(
    'sends the secret to no host that the token endpoint redirects to: %s',
    async (name, command) => {
      let requests = 0;
      const other = await serve((_, response) => {
        requests++;
        response.end(JSON.stringify({ access_token: 'x', expires_in: 3_600 }));
      });
      const location = `${other.url}/token`;
      const endpoint = await serve((_, response) => response.writeHead(307, { location }).end());
      const env = { ...environment, TOKEN_URL: `${endpoint.url}/token` };
      const pull = [join(PROGRAMS, name), directory(), '2026-01-01', '2026-01-02'];
      const isPulling = name === 'incremental_pull.py';
      const ended = isPulling ? runProgram(python as string, pull, { env }) : run(name, command, env);
      await expect(ended).rejects.toThrow();
      expect(requests).toBe(0);
      for (const server of [other, endpoint]) await server.close();
    },
  );

  it.each([
    ...(hasCurl ? [['pull-report.sh', 'sh'] as const] : []),
    ['pull-report.mjs', process.execPath] as const,
  ])('does not change the valid file of yesterday: %s', async (name, command) => {
    await writeFile(join(directory(), 'report.csv'), 'yesterday');
    await expect(run(name, [command], { SCOPE: 'api://other/.default' })).rejects.toThrow(
      'Not authorized to this endpoint.',
    );
    expect(await savedReport()).toBe('yesterday');
  });
});

describe('the daily job of docs/first-report.md', () => {
  const fields = ['Day', 'PlacementId', 'ServedAds', 'Opens', 'Clicks', 'Revenue'];
  const dayAfter = (day: string) => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
  const csvFiles = async () =>
    (await readdir(join(directory(), 'reports'))).filter((name) => /^2.*csv$/.test(name)).sort();
  it.each([...(hasCurl ? [['daily.sh', 'sh'] as const] : []), ['daily.mjs', process.execPath] as const])(
    'pulls each day once, and nothing again while nothing has changed: %s',
    async (name, command) => {
      const parameters = [command, 'reports', '2026-01-01'];
      const printed = await run(name, parameters);
      const files = await csvFiles();
      expect(files.length).toBeGreaterThan(5);
      expect(printed.trim().split('\n')).toHaveLength(files.length);
      for (const day of files.map((file) => file.slice(0, 10)))
        expect(await readFile(join(directory(), 'reports', `${day}.csv`), 'utf8')).toBe(
          guideReport([], { fields, start: `${day}T00:00:00Z`, end: `${dayAfter(day)}T00:00:00Z` }),
        );
      expect(await run(name, parameters)).toBe('');
    },
  );

  it.each([['daily.mjs', process.execPath], ...(python ? [['incremental_pull.py', python]] : [])])(
    'goes on after a 503 and a connection that is dropped: %s',
    async (name = '', command = '') => {
      const asked: string[] = [];
      const busy = await serve(async ({ url = '', headers: { authorization = '' } }, response) => {
        const path = url.replace(/\?.*/, '').replace(/.*\//, '');
        asked.push(path);
        if (asked.length === 1) return response.writeHead(503, { 'retry-after': '1' }).end('{}');
        if (asked.length === 4) return response.destroy();
        const init = { redirect: 'manual', headers: { authorization } } as const;
        const answer = await fetch(service.stack.apiUrl + url, init);
        const headers = [...answer.headers].filter(([of]) => /^(location|data-version)$/.test(of)).flat();
        return response.writeHead(answer.status, headers).end(await answer.text());
      });
      try {
        const program = name.endsWith('.py') ? join(PROGRAMS, name) : await guide.write(name, directory());
        const env = { ...environment, API_URL: busy.url };
        await runProgram(command, [program, 'reports', '2026-01-01', '2026-03-01'], {
          cwd: directory(),
          env,
        });
        const files = await csvFiles();
        expect(files.length).toBeGreaterThan(5);
        expect(asked.slice(0, 3)).toEqual(['days', 'days', 'publisherperformance']);
        expect(asked.length).toBe(3 + files.length);
      } finally {
        await busy.close();
      }
    },
  );
});

const fields = ['Day', 'PlacementId', 'DeviceOrProxy', 'Clicks', 'Revenue'];
/** Filter values with characters that shells and languages treat specially. */
const DEVICES = [`O'Brien" OR 1=1 --`, 'back\\slash', '日本語', '=1+1', 'Mobile'];
/** The question of a program of the page. Each has its own window, so none gets another one's cached report. */
const question = (hour: number) => ({
  fields,
  start: `2026-01-01T0${hour}:00:00Z`,
  end: '2026-02-01T00:00:00Z',
});
const expectedOf = (hour: number) => guideReport(DEVICES, question(hour));

const FILE = 'publisherperformance_Day-PlacementId-DeviceOrProxy-Clicks-Revenue_2026-01-01_2026-01-31.csv';

const snippet = (name: string, hour: number, at = service.stack.apiUrl): string => {
  const snippet = snippets.find((one) => one.name === name);
  if (!snippet) throw new Error(`the page has no ${name}`);
  return snippet.text({
    service: `${at}/`,
    report: publisherReport,
    parameters: [
      ['requestedFields', fields.join(',')],
      ['startInclusive', question(hour).start],
      ['endExclusive', question(hour).end],
      ...DEVICES.map((value) => ['filter[DeviceOrProxy]', value] as const),
      ['api-version', '1.0'],
    ],
    access: { tokenEndpoint: service.stack.tokenUrl, contact: 'reports@example.com' },
  });
};

/** Runs a program from the page, in a directory that already has a complete file of yesterday. */
async function paste(
  command: string,
  program: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  await writeFile(join(directory(), 'program'), `${program}\n`);
  await writeFile(join(directory(), FILE), 'yesterday');
  return runProgram(command, ['program'], { cwd: directory(), env: { LC_ALL: 'C.UTF-8', ...env } });
}
/** The texts of the files that are in the directory after the program has run, by file name. */
async function left(): Promise<Record<string, string>> {
  const names = (await readdir(directory())).filter((name) => name !== 'program');
  const texts = await Promise.all(names.map((name) => readFile(join(directory(), name), 'utf8')));
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']));
}

const pasted = [
  ...(hasCurl ? [['curl', 1, 'sh'] as const] : []),
  ...(python ? [['Python', 2, python] as const] : []),
  ...(hasR ? [['R', 3, 'Rscript'] as const] : []),
];

describe('a user who pastes what the page shows', () => {
  it('pulls the report by the URL', async () => {
    const headers = { Authorization: `Bearer ${service.token}` };
    expect(await (await fetch(snippet('URL', 0), { headers })).text()).toBe(expectedOf(0));
  });

  it.each(pasted)('pulls the report with %s', async (name, hour, command) => {
    await paste(command, snippet(name, hour), { TOKEN: service.token });
    expect(await left()).toEqual({ [FILE]: expectedOf(hour) });
  });
});

describe.each(pasted)('a program from the page, if its pull fails: %s', (name, hour, command) => {
  afterEach(async () => {
    expect(await left()).toEqual({ [FILE]: 'yesterday' });
  });

  it.each([{}, { TOKEN: '' }])('says where to get a token if it has no token: %j', async (env) => {
    await expect(paste(command, snippet(name, hour), env)).rejects.toThrow(
      new RegExp(`TOKEN:? is not set.* ${service.stack.tokenUrl} .* reports@example\\.com`, 's'),
    );
  });

  it('prints the error that the service answers', async () => {
    await expect(paste(command, snippet(name, hour), { TOKEN: 'of.last.week' })).rejects.toThrow(
      'The access token is invalid or has expired.',
    );
  });

  it("fails if the service can't be reached", async () => {
    const nowhere = snippet(name, hour, 'http://127.0.0.1:9');
    await expect(paste(command, nowhere, { TOKEN: service.token })).rejects.toThrow(/connect/i);
  });
});
