import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ENV } from '../../lib/names.ts';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { snippets } from '../../page/src/snippets.ts';
import { expectedReport } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { type Service, startService } from '../e2e/service.ts';
import { pythonWith } from './python.ts';
import { isHere, runProgram } from './run-program.ts';

const events = knownEvents(18, 2_000);
const fields = ['Day', 'PlacementId', 'DeviceOrProxy', 'Clicks', 'Revenue'];
/** Quotes, blanks and brackets that shells and languages treat specially. */
const DEVICES = [`O'Brien" OR 1=1 --`, 'back\\slash', '日本語', '=1+1', 'phone'];
/** Each program has a window of its own, so that none finds another's copy. */
const question = (hour: number) => ({
  fields,
  start: `2026-01-01T0${hour}:00:00Z`,
  end: '2026-02-01T00:00:00Z',
  filters: { DeviceOrProxy: DEVICES },
});
const expected = (hour: number) =>
  expectedReport('publisherperformance', events.publisher_events, question(hour));

let service: Service;
let directory: string;
const hasCurl = await isHere('curl', '--version');
const hasR = await isHere('Rscript', '--version');
const python = await pythonWith('guide-python', ['pandas==3.1.1', 'polars==2.1.0', 'requests==2.34.2']);

beforeAll(async () => {
  // Each report takes longer than one request, so that every program passes the waiting room.
  service = await startService(events, { functionEnv: { [ENV.queryWaitMs]: '400' } });
  service.stack.faults.set([{ on: 'query', delayMs: 1_000 }]);
});
afterAll(() => service.close());
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'performance-reports-page-'));
  return () => rm(directory, { recursive: true, force: true });
});

const snippet = (name: string, hour: number): string => {
  const found = snippets.find((one) => one.name === name);
  if (!found) throw new Error(`the page has no ${name}`);
  return found.text({
    service: `${service.stack.apiUrl}/`,
    report: publisherReport,
    parameters: [
      ['requestedFields', fields.join(',')],
      ['startInclusive', question(hour).start],
      ['endExclusive', question(hour).end],
      ...DEVICES.map((value) => ['filter[DeviceOrProxy]', value] as const),
      ['api-version', '1.0'],
    ],
  });
};

/** Runs what the page shows; resolves to the file that it leaves. */
async function fileBy(name: string, hour: number, command: string): Promise<string> {
  const program = join(directory, 'program');
  await writeFile(program, `${snippet(name, hour)}\n`);
  await runProgram(command, [program], { cwd: directory, env: { TOKEN: service.token, LC_ALL: 'C.UTF-8' } });
  return readFile(join(directory, 'publisherperformance.csv'), 'utf8');
}

describe('what the page shows to paste', () => {
  it('pulls the report as a URL', async () => {
    const response = await fetch(snippet('URL', 0), {
      headers: { Authorization: `Bearer ${service.token}` },
    });
    expect(await response.text()).toBe(expected(0));
  });

  it.runIf(hasCurl)('pulls the report with curl', async () => {
    expect(await fileBy('curl', 1, 'sh')).toBe(expected(1));
  });

  it.runIf(python)('pulls the report with Python', async () => {
    expect(await fileBy('Python', 2, python as string)).toBe(expected(2));
  });

  it.runIf(hasR)('pulls the report with R', async () => {
    expect(await fileBy('R', 3, 'Rscript')).toBe(expected(3));
  });
});
