import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DayState } from '../../lib/lake/days-answer.ts';
import { ownerNames, reports } from '../../lib/report/catalogue.ts';
import { accessToken } from '../../local/access-token.ts';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import { writeEvents } from '../../local/events/write-events.ts';
import { type Service, startService } from './service.ts';

const DAY = { publisher: 'publisherperformance', advertiser: 'advertiserperformance' };

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
    readonly errors?: readonly { readonly parameter: string; readonly detail: string }[];
  };
}

async function days(
  start: string,
  end: string,
  token = service.token,
  report = DAY.publisher,
): Promise<Answer> {
  const query = new URLSearchParams({ startInclusive: start, endExclusive: end, 'api-version': '1.0' });
  const response = await fetch(`${service.stack.apiUrl}/reporting/${report}/days?${query}`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

const asCaller = () => ({ Authorization: `Bearer ${service.token}` });

/** The report of a window's clicks, and the data version in the redirect to it. */
async function clicks(start: string, end: string): Promise<{ csv: string; version: string | null }> {
  const query = new URLSearchParams({
    requestedFields: 'Clicks',
    startInclusive: start,
    endExclusive: end,
    'api-version': '1.0',
  });
  const redirect = await service.request(DAY.publisher, String(query));
  const file = await fetch(String(redirect.headers.get('location')));
  return { csv: await file.text(), version: redirect.headers.get('Data-Version') };
}

const MARCH = ['2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z'] as const;
const statesOf = ({ body }: Answer) => body.days.map(({ day, state }) => `${day} ${state}`);
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
    expect(body).toEqual({
      report: 'publisherperformance',
      startInclusive: '2026-03-01T00:00:00Z',
      endExclusive: '2026-04-01T00:00:00Z',
      days: [
        {
          day: '2026-03-01',
          startInclusive: '2026-03-01T00:00:00Z',
          endExclusive: '2026-03-02T00:00:00Z',
          state: 'final',
          version: expect.stringMatching(/^[0-9a-f]{32}$/),
        },
        {
          day: '2026-03-03',
          startInclusive: '2026-03-03T00:00:00Z',
          endExclusive: '2026-03-04T00:00:00Z',
          state: 'open',
          version: expect.stringMatching(/^[0-9a-f]{32}$/),
        },
      ],
    });
  });

  it('calls days unknown if no day of the window or of the month before the window has a marker', async () => {
    expect(statesOf(await days(...MARCH))).toEqual(['2026-03-01 unknown']);
    await write('2026-02-20', 1);
    await mark('2026-02-20');
    expect(statesOf(await days(...MARCH))).toEqual(['2026-03-01 open']);
    expect(statesOf(await days('2026-02-19T00:00:00Z', MARCH[1]))).toEqual([
      '2026-02-20 final',
      '2026-03-01 open',
    ]);
  });

  it('gives a day another version only when the files of the day change', async () => {
    await write('2026-03-02', 1);
    const before = await days(...MARCH);
    expect(await days(...MARCH)).toEqual(before);
    await mark('2026-03-02');
    await writeFile(join(folder('2026-03-02'), '.hidden'), 'x');
    expect(versionOf(await days(...MARCH), '2026-03-02')).toBe(versionOf(before, '2026-03-02'));

    await write('2026-03-02', 2);
    const added = await days(...MARCH);
    expect(versionOf(added, '2026-03-02')).not.toBe(versionOf(before, '2026-03-02'));
    expect(versionOf(added, '2026-03-01')).toBe(versionOf(before, '2026-03-01'));
    for (const name of await readdir(folder('2026-03-02'))) await rm(join(folder('2026-03-02'), name));
    await write('2026-03-02', 1);
    // The same records in another file have another version, because the service does not compare records.
    expect(
      new Set([before, added, await days(...MARCH)].map((answer) => versionOf(answer, '2026-03-02'))).size,
    ).toBe(3);
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

  it('gives the whole day’s window and version if the requested window begins and ends within the day', async () => {
    const whole = await days('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z');
    expect(whole.body.days).toHaveLength(1);
    expect((await days('2026-03-01T11:00:00Z', '2026-03-01T11:00:01Z')).body.days).toEqual(whole.body.days);
  });

  it('gives the version that the report’s download names; the download takes Range and If-None-Match', async () => {
    await write('2026-03-02', 5);
    const query =
      'requestedFields=Day,Clicks&startInclusive=2026-03-02T00:00:00Z&endExclusive=2026-03-03T00:00:00Z&api-version=1.0';
    const linkTo = async () => String((await service.request(DAY.publisher, query)).headers.get('location'));
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

  it('lists every day that the window touches', async () => {
    await write('2026-03-02', 1);
    expect(statesOf(await days('2026-03-01T23:59:59Z', '2026-03-02T00:00:00Z'))).toEqual([
      '2026-03-01 unknown',
    ]);
    expect(statesOf(await days('2026-03-01T23:59:59Z', '2026-03-02T00:00:01Z'))).toHaveLength(2);
    expect(statesOf(await days('2026-03-03T00:00:00Z', '2026-03-04T00:00:00Z'))).toEqual([]);
  });

  it('accepts 400 days, even if they have more files than S3 lists at once', async () => {
    const start = Date.UTC(2025, 1, 10);
    const names = Array.from({ length: 400 }, (_, nth) =>
      new Date(start + nth * 86_400_000).toISOString().slice(0, 10),
    );
    for (const day of names) {
      await mkdir(folder(day), { recursive: true });
      for (const name of ['a', '_SUCCESS']) await writeFile(join(folder(day), name), name);
    }
    // S3 lists at most 1,000 files at once. This day has more.
    for (let nth = 0; nth < 1_000; nth++) await writeFile(join(folder('2025-12-24'), `b${nth}`), '');
    const { status, body } = await days('2025-02-10T00:00:00Z', '2026-03-17T00:00:00Z');
    expect(status).toBe(200);
    expect(body.days.map(({ day }) => day)).toEqual(names);
    expect(new Set(body.days.map(({ state }) => state))).toEqual(new Set(['final']));
  });

  it('lists only the days of the report’s own table', async () => {
    const january = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'] as const;
    expect(statesOf(await days(...january, service.token, DAY.advertiser))).toEqual(['2026-01-01 unknown']);
    expect(statesOf(await days(...january))).toEqual([]);
  });

  it('answers 404 no-records, as the report does, if the report’s table is missing', async () => {
    await rm(join(lake, 'advertiser_events'), { recursive: true });
    const { status, body } = await days(...MARCH, service.token, DAY.advertiser);
    expect({ status, body }).toMatchObject({
      status: 404,
      body: {
        type: 'urn:problem-type:performance-reports:no-records',
        detail: expect.stringMatching(
          /no records for the advertiser performance report: its table is missing/,
        ),
      },
    });
    const query =
      'requestedFields=Spend&startInclusive=2026-03-02T00:00:00Z&endExclusive=2026-03-03T00:00:00Z&api-version=1.0';
    expect((await service.request(DAY.advertiser, query)).status).toBe(404);
    expect((await service.request(DAY.publisher, query.replace('Spend', 'Clicks'))).status).toBe(303);
    await mkdir(join(lake, 'advertiser_events'));
    expect((await days(...MARCH, service.token, DAY.advertiser)).body.days).toEqual([]);
  });

  it('lists no day while the table has no file, and lists the day again after a new file is written', async () => {
    const query =
      'requestedFields=Day,Clicks&startInclusive=2026-03-01T00:00:00Z&endExclusive=2026-04-01T00:00:00Z&api-version=1.0';
    const csv = async () =>
      (await service.request(DAY.publisher, query, { redirect: 'follow', headers: asCaller() })).text();
    const row = '"2026-03-01T00:00:00Z",1\n';
    expect(await csv()).toBe(`"Day","Clicks"\n${row}`);
    for (const name of await readdir(folder('2026-03-01'))) await rm(join(folder('2026-03-01'), name));
    await mark('2026-03-01');
    expect(await csv()).toBe('"Day","Clicks"\n');
    expect(statesOf(await days(...MARCH))).toEqual([]);
    await write('2026-03-01', 1);
    expect(await csv()).toBe(`"Day","Clicks"\n${row}`);
    expect(statesOf(await days(...MARCH))).toEqual(['2026-03-01 final']);
  });

  it('names every fault of a request in one answer', async () => {
    const ask = async (query: string) => {
      const response = await fetch(`${service.stack.apiUrl}/reporting/${DAY.publisher}/days?${query}`, {
        headers: { Authorization: `Bearer ${service.token}` },
      });
      const { errors } = (await response.json()) as Answer['body'];
      return {
        status: response.status,
        errors: errors?.map(({ parameter, detail }) => `${parameter}: ${detail}`),
      };
    };
    expect(await ask('startInclusive=2026-03-01&api-version=2&requestedFields=Day')).toEqual({
      status: 400,
      errors: [
        'startInclusive: "2026-03-01" is not a date and time of the form YYYY-MM-DDThh:mm:ssZ.',
        'endExclusive: Missing: this parameter is required.',
        'api-version: "2" is not supported. Supported: 1.0.',
        'requestedFields: Unknown parameter. Known are: startInclusive, endExclusive, api-version.',
      ],
    });
    const window = (start: string, end: string) =>
      ask(`startInclusive=${start}T00:00:00Z&endExclusive=${end}T00:00:00Z&api-version=1.0`);
    expect(await window('2026-03-01', '2026-03-01')).toMatchObject({
      errors: ['endExclusive: Must be later than startInclusive.'],
    });
    expect(await window('2025-01-01', '2026-02-06')).toMatchObject({
      errors: [
        'endExclusive: The window is longer than 400 days. Send 2 requests: the first ends at 2026-02-05T00:00:00Z, and each next one begins where the one before it ends.',
      ],
    });
    expect((await window('2025-01-01', '2026-02-05')).status).toBe(200);
  });

  it.each([
    ['house', ownerNames],
    ['publisher-one', ['publisherCompanies']],
    ['advertiser', ['advertiserCompanies']],
    ['nobody', []],
  ])(
    'answers the client %s for a report only if the right that governs the report is one of %j',
    async (clientId, seen) => {
      const client = service.stack.clients.find((one) => one.clientId === clientId);
      const token = await accessToken({ ...service.stack, ...client });
      const statuses = reports.map(async ({ name }) => (await days(...MARCH, token, name)).status);
      const expected = reports.map(({ governedBy }) => (seen.includes(governedBy) ? 200 : 401));
      expect(await Promise.all(statuses)).toEqual(expected);
    },
  );

  it('refuses a caller without a token before it reads the query', async () => {
    const response = await fetch(`${service.stack.apiUrl}/reporting/${DAY.publisher}/days?nonsense=1`);
    expect(response.status).toBe(401);
  });
});
