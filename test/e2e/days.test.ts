import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { DayState } from '../../lib/lake/day-states.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import { ownFolder } from '../own-folder.ts';
import { writeEvents } from '../write-events.ts';
import { ownService, queryOf } from './service.ts';

const REPORT = 'publisherperformance';

const lake = join(await ownFolder(), 'lake');
await write('2026-01-01', 1);
await writeOthers();
const service = await ownService(
  { publisher_events: [], advertiser_events: [] },
  { openEngine: duckDbOn(lake), eventsDirectory: lake },
);
beforeEach(async () => {
  for (const table of ['publisher_events', 'advertiser_events'])
    await rm(join(lake, table), { recursive: true, force: true });
  await writeOthers();
  await write('2026-03-01', 1);
});

/** Writes one record into every missing table except the publisher's table. */
async function writeOthers(): Promise<void> {
  for (const { table } of reports)
    if (table !== 'publisher_events' && !existsSync(join(lake, table)))
      await writeEvents(lake, table, [{ event_time: '2026-01-01T12:00:00.000Z' }]);
}

function write(day: string, clicks: number, time = '12:00:00.000'): Promise<void> {
  const record = { event_time: `${day}T${time}Z`, publisher_company_id: 1000, clicks };
  return writeEvents(lake, 'publisher_events', [record]);
}

async function daysOfMarch(): Promise<{ status: number; days: readonly DayState[] }> {
  const window = { startInclusive: '2026-03-01T00:00:00Z', endExclusive: '2026-04-01T00:00:00Z' };
  const query = new URLSearchParams({ ...window, 'api-version': '1.0' });
  const response = await service.request(`${REPORT}/days`, String(query), {
    headers: { Authorization: `Bearer ${service.token}` },
  });
  const { days } = (await response.json()) as { days: readonly DayState[] };
  return { status: response.status, days };
}

/** The report of a window's clicks, and the data version in the redirect to it. */
async function clicks(start: string, end: string): Promise<{ csv: string; version: string | null }> {
  const redirect = await service.request(REPORT, queryOf({ fields: ['Clicks'], start, end }));
  const file = await fetch(String(redirect.headers.get('location')));
  return { csv: await file.text(), version: redirect.headers.get('Data-Version') };
}

describe('GET /reporting/{report}/days', () => {
  it('gives the window of each day, and the version that a report with this window has', async () => {
    await write('2026-03-01', 1, '23:59:59.999');
    await write('2026-03-02', 5);
    await write('2026-03-02', 30, '00:00:00.000');
    await write('2026-03-02', 200, '23:59:59.999');
    await write('2026-03-03', 1, '00:00:00.000');
    const [, day] = (await daysOfMarch()).days;
    const { startInclusive = '', endExclusive = '', version } = day ?? {};
    expect(await clicks(startInclusive, endExclusive)).toEqual({ csv: '"Clicks"\n235\n', version });
    // A tool with inclusive ends sends this window. Its report lacks the day's last second, but has the same version.
    expect(await clicks(startInclusive, '2026-03-02T23:59:59Z')).toEqual({ csv: '"Clicks"\n35\n', version });
  });

  it('gives the version that the report’s download names; the download takes Range and If-None-Match', async () => {
    await write('2026-03-02', 5);
    const window = { start: '2026-03-02T00:00:00Z', end: '2026-03-03T00:00:00Z' };
    const query = queryOf({ ...window, fields: ['Day', 'Clicks'] });
    const linkTo = async () => String((await service.request(REPORT, query)).headers.get('location'));
    const whole = await fetch(await linkTo());
    const text = await whole.text();
    expect(text).toBe('"Day","Clicks"\n"2026-03-02T00:00:00Z",5\n');
    expect(whole.headers.get('x-amz-meta-data-version')).toBe((await daysOfMarch()).days[1]?.version);
    const rest = await fetch(await linkTo(), { headers: { Range: 'bytes=15-' } });
    expect([rest.status, await rest.text()]).toEqual([206, text.slice(15)]);
    const headers = { 'If-None-Match': String(whole.headers.get('etag')) };
    expect((await fetch(await linkTo(), { headers })).status).toBe(304);
  });
});
