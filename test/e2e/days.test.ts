import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DayState } from '../../lib/lake/days-answer.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import { writeEvents } from '../write-events.ts';
import { type Service, startService } from './service.ts';

const REPORT = 'publisherperformance';

let home: string;
let lake: string;
let service: Service;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'performance-reports-days-'));
  lake = join(home, 'lake');
  await write('2026-01-01', 1);
  await writeOthers();
  service = await startService(
    { publisher_events: [], advertiser_events: [] },
    { openEngine: duckDbOn(lake), eventsDirectory: lake },
  );
});
afterAll(async () => {
  await service.close();
  await rm(home, { recursive: true });
});
beforeEach(async () => {
  await rm(join(lake, 'publisher_events'), { recursive: true });
  await rm(join(lake, 'advertiser_events'), { recursive: true, force: true });
  await writeOthers();
  await write('2026-03-01', 1);
});

/** Writes one record into every missing table except the publisher's table. */
async function writeOthers(): Promise<void> {
  for (const { table } of reports)
    if (table !== 'publisher_events' && !existsSync(join(lake, table)))
      await writeEvents(lake, table, [{ event_time: '2026-01-01T12:00:00.000Z' }]);
}

const folder = (day: string) => join(lake, 'publisher_events', `day=${day}`);

/** Adds a file with one record to a day. */
const write = (day: string, clicks: number, time = '12:00:00.000') =>
  writeEvents(lake, 'publisher_events', [
    { event_time: `${day}T${time}Z`, publisher_company_id: 1000, clicks },
  ]);

const mark = (day: string) => writeFile(join(folder(day), '_SUCCESS'), '');

interface Answer {
  readonly status: number;
  readonly body: {
    readonly days: readonly DayState[];
  };
}

async function days(startInclusive: string, endExclusive: string): Promise<Answer> {
  const query = new URLSearchParams({ startInclusive, endExclusive, 'api-version': '1.0' });
  const response = await fetch(`${service.stack.apiUrl}/reporting/${REPORT}/days?${query}`, {
    headers: { Authorization: `Bearer ${service.token}` },
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** The report of a window's clicks, and the data version in the redirect to it. */
async function clicks(start: string, end: string): Promise<{ csv: string; version: string | null }> {
  const query = new URLSearchParams({
    requestedFields: 'Clicks',
    startInclusive: start,
    endExclusive: end,
    'api-version': '1.0',
  });
  const redirect = await service.request(REPORT, String(query));
  const file = await fetch(String(redirect.headers.get('location')));
  return { csv: await file.text(), version: redirect.headers.get('Data-Version') };
}

const MARCH = ['2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z'] as const;
const versionOf = ({ body }: Answer, day: string) => body.days.find((found) => found.day === day)?.version;

describe('GET /reporting/{report}/days', () => {
  it('gives the window, and the state and version of each day with events', async () => {
    await write('2026-03-03', 1);
    await mark('2026-03-01');
    await mkdir(folder('2026-03-02'));
    await mkdir(folder('2026-03-05'));
    await mark('2026-03-05');
    const { status, body } = await days(...MARCH);
    expect(status).toBe(200);
    expect(body.days).toMatchObject([
      { day: '2026-03-01', endExclusive: '2026-03-02T00:00:00Z', state: 'final' },
      { day: '2026-03-03', endExclusive: '2026-03-04T00:00:00Z', state: 'open' },
    ]);
  });

  it('gives the window of each day, and the version that a report with this window has', async () => {
    await write('2026-03-01', 1, '23:59:59.999');
    await write('2026-03-02', 5);
    await write('2026-03-02', 30, '00:00:00.000');
    await write('2026-03-02', 200, '23:59:59.999');
    await write('2026-03-03', 1, '00:00:00.000');
    const [, day] = (await days(...MARCH)).body.days;
    const { startInclusive = '', endExclusive = '', version } = day ?? {};
    expect(await clicks(startInclusive, endExclusive)).toEqual({ csv: '"Clicks"\n235\n', version });
    // A tool with inclusive ends sends this window. Its report lacks the day's last second, but has the same version.
    expect(await clicks(startInclusive, '2026-03-02T23:59:59Z')).toEqual({ csv: '"Clicks"\n35\n', version });
  });

  it('gives the version that the report’s download names; the download takes Range and If-None-Match', async () => {
    await write('2026-03-02', 5);
    const query =
      'requestedFields=Day,Clicks&startInclusive=2026-03-02T00:00:00Z&endExclusive=2026-03-03T00:00:00Z&api-version=1.0';
    const linkTo = async () => String((await service.request(REPORT, query)).headers.get('location'));
    const whole = await fetch(await linkTo());
    const text = await whole.text();
    expect(text).toBe('"Day","Clicks"\n"2026-03-02T00:00:00Z",5\n');
    expect(whole.headers.get('x-amz-meta-data-version')).toBe(versionOf(await days(...MARCH), '2026-03-02'));
    const rest = await fetch(await linkTo(), { headers: { Range: 'bytes=15-' } });
    expect([rest.status, await rest.text()]).toEqual([206, text.slice(15)]);
    const same = await fetch(await linkTo(), {
      headers: { 'If-None-Match': String(whole.headers.get('etag')) },
    });
    expect(same.status).toBe(304);
  });
});
