import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { snippets } from '../../page/src/answer/snippets.ts';
import { expectedReport } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService } from '../e2e/service.ts';
import { folderOfEach } from '../own-folder.ts';
import { pythonWith } from './python.ts';
import { isHere, runProgram } from './run-program.ts';

const events = knownEvents(18, 2_000);
const fields = ['Day', 'PlacementId', 'DeviceOrProxy', 'Clicks', 'Revenue'];
/** Filter values with characters that shells and languages treat specially. */
const DEVICES = [`O'Brien" OR 1=1 --`, 'back\\slash', '日本語', '=1+1', 'phone'];
/** The question of a program. Each program has its own window, so none gets the cached report of another program. */
const question = (hour: number) => ({
  fields,
  start: `2026-01-01T0${hour}:00:00Z`,
  end: '2026-02-01T00:00:00Z',
  filters: { DeviceOrProxy: DEVICES },
});
const expected = (hour: number) =>
  expectedReport('publisherperformance', events.publisher_events, question(hour));

const FILE = 'publisherperformance_Day-PlacementId-DeviceOrProxy-Clicks-Revenue_2026-01-01_2026-01-31.csv';

const directory = folderOfEach();
const hasCurl = await isHere('curl', '--version');
const hasR = await isHere('Rscript', '-e', 'library(curl)');
const python = await pythonWith('guide-python', ['pandas==3.1.1', 'polars==2.1.0', 'requests==2.34.2']);

// Each report takes longer than a request waits, so every program goes through the waiting room.
const service = await ownService(events, { functionEnv: { QUERY_WAIT_MS: '400' } });
service.stack.faults.set([{ on: 'query', delayMs: 1_000 }]);

const snippet = (name: string, hour: number, at = service.stack.apiUrl): string => {
  const found = snippets.find((one) => one.name === name);
  if (!found) throw new Error(`the page has no ${name}`);
  return found.text({
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
async function run(command: string, program: string, env: Readonly<Record<string, string>>): Promise<string> {
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

const programs = [
  ...(hasCurl ? [['curl', 1, 'sh'] as const] : []),
  ...(python ? [['Python', 2, python] as const] : []),
  ...(hasR ? [['R', 3, 'Rscript'] as const] : []),
];

describe('a user who pastes what the page shows', () => {
  it('pulls the report by the URL', async () => {
    const headers = { Authorization: `Bearer ${service.token}` };
    expect(await (await fetch(snippet('URL', 0), { headers })).text()).toBe(expected(0));
  });

  it.each(programs)('pulls the report with %s', async (name, hour, command) => {
    await run(command, snippet(name, hour), { TOKEN: service.token });
    expect(await left()).toEqual({ [FILE]: expected(hour) });
  });
});

describe.each(programs)('a program from the page, if its pull fails: %s', (name, hour, command) => {
  afterEach(async () => {
    expect(await left()).toEqual({ [FILE]: 'yesterday' });
  });

  it.each([{}, { TOKEN: '' }])('says where to get a token if it has no token: %j', async (env) => {
    await expect(run(command, snippet(name, hour), env)).rejects.toThrow(
      new RegExp(`TOKEN:? is not set.* ${service.stack.tokenUrl} .* reports@example\\.com`, 's'),
    );
  });

  it('prints the error that the service answers', async () => {
    await expect(run(command, snippet(name, hour), { TOKEN: 'of.last.week' })).rejects.toThrow(
      'The access token is invalid or has expired.',
    );
  });

  it("fails if the service can't be reached", async () => {
    const nowhere = snippet(name, hour, 'http://127.0.0.1:9');
    await expect(run(command, nowhere, { TOKEN: service.token })).rejects.toThrow(/connect/i);
  });
});
