import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { advertiserReport, type Field, metricsOf } from '../../lib/report/catalogue.ts';
import { tables } from '../../lib/report/tables.ts';
import { DRAW_MACROS } from '../../local/events/draws.ts';
import { type OpenedEvents, openEvents } from '../../local/events/open-events.ts';
import { makeSampleEvents } from '../../local/events/sample-events.ts';
import { sampleDays, sampleRows } from '../../local/events/sample-rows.ts';
import { thisPlace } from '../../local/run-folder.ts';
import { ownFolder } from '../own-folder.ts';
import { publisherRecord } from '../tools/make-parquet.ts';
import { type EventRow, writeEvents } from '../write-events.ts';

const database = 'reports';
const NOON = { event_time: '2026-01-31T12:00:00.000Z' };
const DAY = 'publisher_events/day=2026-01-31';
const NEXT_DAY = { event_time: '2026-02-01T00:00:00.000Z' };

const folder = await ownFolder();
const instance = await DuckDBInstance.create();
const connection = await instance.connect();
await connection.run("SET TimeZone = 'UTC'");
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

let directory: string;
let scratchDirectory: string;
beforeEach(async () => {
  warnings = [];
  directory = await mkdtemp(join(folder, 'events-'));
  scratchDirectory = await mkdtemp(join(folder, 'scratch-'));
});
afterEach(() => connection.run('DROP SCHEMA IF EXISTS reports CASCADE'));

const rowsOf = async (sql: string): Promise<DuckDBValue[][]> =>
  (await connection.runAndReadAll(sql)).getRowsJson() as DuckDBValue[][];

/** The rows of a query on the opened events, as the engine asks. */
const ask = async ({ follow }: OpenedEvents, sql: string) => {
  await follow(connection, sql);
  return rowsOf(sql);
};
const clicksOf = (opened: OpenedEvents, first: string, last = first) =>
  ask(
    opened,
    `SELECT count(clicks) FROM reports.publisher_events WHERE day BETWEEN '${first}' AND '${last}'`,
  );

let warnings: string[];
const open = () =>
  openEvents(connection, { directory, database, scratchDirectory, onWarning: (line) => warnings.push(line) });

const inDays = (name: string) => join(directory, 'publisher_events', name);

const writeEach = async (rows: readonly EventRow[] = [NOON]) => {
  for (const { name } of tables) await writeEvents(directory, name, rows);
};

/** Writes the rows of a SELECT into a Parquet file, with any columns and types, as other writers might do. */
const writeParquet = async (path: string, select: string) => {
  await mkdir(dirname(join(directory, path)), { recursive: true });
  await connection.run(`COPY (${select}) TO '${join(directory, path)}' (FORMAT parquet)`);
};

describe('openEvents', () => {
  it('opens every table of the contract, with the types of the contract and the day as text', async () => {
    await writeEach();
    await open();

    const shown = await rowsOf(`SELECT table_name, column_name, data_type FROM duckdb_columns()
      WHERE schema_name = '${database}' ORDER BY table_name, column_index`);
    const byName = tables.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const expected = byName.flatMap(({ name, columns }) => [
      ...columns.map((column) => [name, column.name, column.type.toUpperCase()]),
      [name, 'day', 'VARCHAR'],
    ]);
    expect(shown).toEqual(expected);
  });

  it.each([
    ['a timestamp with a time zone', { event_time: "TIMESTAMPTZ '2026-01-31 13:00:00+01'" }],
    ['times in nanoseconds', { event_time: "TIMESTAMP_NS '2026-01-31 12:00:00'" }],
    ['times in seconds', { event_time: "TIMESTAMP_S '2026-01-31 12:00:00'" }],
    ['narrower integers', { clicks: '1::SMALLINT', placement_id: '1::UINTEGER' }],
    ['a narrower decimal', { revenue: '1::DECIMAL(9,6)' }],
    ['a file with an added column', { clicks: '7 AS added, 1::BIGINT' }],
    ['columns named file, day and path', { clicks: "'x' AS file, 'x' AS day, 'x' AS path, 1::BIGINT" }],
  ])('reads %s with the types of the contract', async (_, changed) => {
    await writeEach();
    await writeParquet('publisher_events/day=2026-01-31/a.parquet', publisherRecord(changed));
    await open();

    const rows = await rowsOf(`SELECT typeof(event_time), CAST(event_time AS VARCHAR), placement_id,
      typeof(placement_id), typeof(clicks), revenue, typeof(revenue) FROM reports.publisher_events WHERE revenue = 1`);
    const types = ['BIGINT', 'BIGINT', '1.000000', 'DECIMAL(18,6)'];
    expect(rows).toEqual([['TIMESTAMP', '2026-01-31 12:00:00', '1', ...types]]);
  });

  it('reads a day’s files at any depth, under any name, but nothing hidden, like Athena', async () => {
    await writeEach();
    await writeFile(join(directory, 'publisher_events', '_SUCCESS'), '');
    await writeFile(inDay('_half.parquet'), 'half');
    const clicks = { 'part-0000': 1, 'hour=05/x/b.snappy': 5, '_temporary/0/c': 7, '.staging/d.parquet': 7 };
    for (const [name, count] of Object.entries(clicks))
      await writeParquet(`${DAY}/${name}`, publisherRecord({ clicks: `${count}::BIGINT` }));
    await open();
    const rows = await rowsOf('SELECT day, clicks FROM reports.publisher_events ORDER BY clicks');
    expect(rows).toEqual(['0', '1', '5'].map((count) => ['2026-01-31', count]));
  });

  it('reads files and days that came later, but no folder beside the days, whatever its name', async () => {
    await writeEach();
    const opened = await open();
    for (const name of ['-old', '.bak', ' (copy)', 'T00', 'x', '\n'])
      await cp(inDays('day=2026-01-31'), inDays(`day=2026-01-31${name}`), { recursive: true });
    await cp(inDays('day=2026-01-31'), inDays('day=2026-02-31'), { recursive: true });
    await writeEvents(directory, 'publisher_events', [NOON, NEXT_DAY]);
    expect(await clicksOf(opened, '2026-01-31')).toEqual([['2']]);
    expect(await clicksOf(opened, '2026-01-01', '2026-12-31')).toEqual([['3']]);
  });

  it.each<[fault: string, make: () => Promise<unknown>]>([
    ['the link leads nowhere', () => symlink('nowhere', join(inDays('day=2026-02-01'), 'b.parquet'))],
    [
      'it is a link out of the table',
      async () => {
        await rename(inDays('day=2026-02-01'), join(scratchDirectory, 'elsewhere'));
        await symlink(join(scratchDirectory, 'elsewhere'), inDays('day=2026-02-01'));
      },
    ],
  ])(
    'fails the reports of a day in which a part can no longer be read, and no others: %s',
    async (fault, make) => {
      await writeEach([NOON, NEXT_DAY]);
      const opened = await open();
      await make();
      expect(await clicksOf(opened, '2026-01-31')).toEqual([['1']]);
      await expect(clicksOf(opened, '2026-02-01')).rejects.toThrow(fault);
      await connection.run('DROP SCHEMA reports CASCADE');
      await expect(open()).rejects.toThrow(/day=2026-02-01/);
    },
  );

  it('serves a directory whose path is a pattern, and one that is a link', async () => {
    await writeEach();
    await rename(directory, `${directory}[1]*`);
    await symlink(`${directory}[1]*`, directory);
    const opened = await open();
    expect(await clicksOf(opened, '2026-01-31')).toEqual([['1']]);
    await rm(directory);
    await rename(`${directory}[1]*`, directory);
  });

  it('gives NULL for a column that a file lacks, no rows for a table that is missing, and warns about both', async () => {
    await writeEach();
    await rm(join(directory, 'advertiser_events'), { recursive: true });
    const record = publisherRecord({ event_time: "TIMESTAMP '2026-02-01 00:00:00'", clicks: undefined });
    await writeParquet('publisher_events/day=2026-02-01/a.parquet', record);
    await open();

    expect(await rowsOf('SELECT day, clicks FROM reports.publisher_events ORDER BY day')).toEqual([
      ['2026-01-31', '0'],
      ['2026-02-01', null],
    ]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^advertiser_events\/: it does not exist: advertiserperformance answers 404 no-records; .*lake -- init/,
      ),
      'publisher_events/day=2026-02-01/a.parquet: clicks: it is missing, which Athena reads as NULL; needed: bigint. ' +
        'If the column is younger than the file, do nothing. Else write the file again with it.',
    ]);
    expect(await rowsOf('SELECT day, spend FROM reports.advertiser_events')).toEqual([]);
  });

  // The rules have their cases in test/lake-check.
  it('names all faults at once, the worst first, and names a fault of many files once', async () => {
    await writeEach();
    await addFile({ clicks: '-1::BIGINT' });
    for (const name of ['m', 'n', 'o', 'p', 'q'])
      await addFile({ revenue: '1.5::DOUBLE', placement_id: `${name.charCodeAt(0)}::BIGINT` }, name);
    await writeFile(inDay('events.csv'), 'a,b');

    const fault = await open().catch((error: Error) => error);
    expect(fault).toMatchObject({ name: 'OperatorFault' });
    expect((fault as Error).message.split('\n')).toEqual([
      `${directory} can't be served; 3 faults:`,
      expect.stringMatching(/^ {2}1\. .*z\.parquet: clicks: some records with a count below 0/),
      expect.stringMatching(/^ {2}2\. .*m\.parquet, .*n\.parquet, .*o\.parquet and 2 more: revenue: it is D/),
      expect.stringMatching(/^ {2}3\. .*events\.csv: it is not a Parquet file/),
    ]);
  });

  const addFile = (changed: Readonly<Record<string, string | undefined>>, name = 'z') =>
    writeParquet(`publisher_events/day=2026-01-31/${name}.parquet`, publisherRecord(changed));
  const inDay = (name: string) => join(directory, 'publisher_events', 'day=2026-01-31', name);
});

describe('a file that has a column of a wrong type, put in place while the events are open,', () => {
  /** The ids of two companies, which are equal as doubles. */
  const [FIRST, SECOND] = [9_007_199_254_740_992n, 9_007_199_254_740_993n];
  const DAYS = ['2026-01-30', '2026-01-31', '2026-02-01'] as const;
  let opened: OpenedEvents;
  beforeEach(async () => {
    const rows = [...DAYS.map((day) => [day, SECOND]), [DAYS[1], FIRST]].map(([day, company]) => ({
      event_time: `${day}T12:00:00.000Z`,
      publisher_company_id: company as bigint,
      clicks: 1,
    }));
    for (const { name } of tables)
      await writeEvents(directory, name, name === 'publisher_events' ? rows : [NOON]);
    opened = await open();
  });

  /** Puts a file with one record of the second company in place of the day's only file, or beside it. */
  async function swap(day: string, changed: Readonly<Record<string, string>>, name?: string) {
    const folder = inDays(`day=${day}`);
    if (!name) await rm(folder, { recursive: true });
    const noon = { event_time: `TIMESTAMP '${day} 12:00:00'`, publisher_company_id: `${SECOND}` };
    const record = publisherRecord({ ...noon, ...changed });
    await writeParquet(`publisher_events/day=${day}/${name ?? 'x'}`, record);
  }
  const clicks = (first: string, last: string) =>
    ask(
      opened,
      `SELECT sum(clicks) FROM reports.publisher_events
       WHERE day BETWEEN '${first}' AND '${last}' AND publisher_company_id = ${SECOND}`,
    );

  it.each([
    [DAYS[0], 'publisher_company_id', `${SECOND}::DOUBLE`, 'DOUBLE', 'bigint'],
    [DAYS[1], 'clicks', "'7'", 'VARCHAR', 'bigint'],
    [DAYS[1], 'revenue', '1.5::DECIMAL(18,4)', 'DECIMAL(18,4)', 'decimal(18,6)'],
    [DAYS[2], 'event_time', `DATE '${DAYS[2]}'`, 'DATE', 'timestamp'],
  ])('makes queries of the column fail: on %s, %s has %s', async (day, column, value, found, type) => {
    await swap(day, { [column]: value });
    await expect(ask(opened, `SELECT max(${column}) FROM reports.publisher_events`)).rejects.toThrow(
      `HIVE_BAD_DATA: Field ${column}'s type ${found} in parquet file ${inDays(`day=${day}`)}/x ` +
        `is incompatible with type ${type} defined in table schema`,
    );
  });

  it('fails no query that reads neither its day nor this column, nor mixes ids that are equal as doubles', async () => {
    await swap(DAYS[0], { publisher_company_id: `${SECOND}::DOUBLE` });
    expect(await clicks(DAYS[1], DAYS[2])).toEqual([['2']]);
    expect(await ask(opened, 'SELECT sum(clicks) FROM reports.publisher_events')).toEqual([['4']]);
  });

  it('fails queries of its day until a correct file replaces it, also as a second file of the day', async () => {
    for (const name of [undefined, 'a.parquet']) {
      await swap(DAYS[1], { clicks: '1::DOUBLE' }, name);
      for (const _ of ['first', 'again'])
        await expect(clicks(DAYS[0], DAYS[2])).rejects.toThrow(
          /Field clicks's type DOUBLE .* with type bigint/,
        );
      expect(await clicks(DAYS[2], DAYS[2])).toEqual([['1']]);
      await swap(DAYS[1], { clicks: '5::BIGINT' });
      expect(await clicks(DAYS[0], DAYS[2])).toEqual([['7']]);
    }
  });
});

/** The events that a container with its own numbers of processes makes. */
const ELSEWHERE = '1999999-abcdef01-abcdef';

describe('makeSampleEvents', () => {
  const records = { records: 20_000 };
  const home = join(folder, 'sample');
  const unfinished = (maker: string) => `sample-0123456789ab-partial-${maker}`;
  let sample: string;
  const progress: string[] = [];

  beforeAll(async () => {
    const { pid: killed } = spawnSync(process.execPath, ['--version']);
    for (const maker of [killed, process.pid].map((pid) => `${pid}-${thisPlace}-abcdef`).concat(ELSEWHERE))
      await mkdir(join(home, unfinished(maker), 'publisher_events'), { recursive: true });
    const onProgress = (done: number, total: number) => progress.push(`${done}/${total}`);
    sample = await makeSampleEvents({ directory: home, ...records, onProgress });
    await openEvents(connection, { directory: sample, database: 'sample', scratchDirectory: home });
    await connection.run(DRAW_MACROS);
  });

  // These columns stay the same if the catalogue grows. Only a change of the generator changes their digests.
  const OPENS = 'served_ads, placement_opens, container_opens, clicks, revenue';
  const CAMPAIGNS = 'advertiser_company_id, campaign_id, campaign_line_id, creative_id, demand_origin';
  const SPEND = `${CAMPAIGNS}, impressions, clicks, conversions, conversion_revenue, spend`;
  it.each([
    ['publisher_events', OPENS, 'a75428c4c6233a12cdd3d63f1afdc2b6'],
    ['advertiser_events', SPEND, '4b392f6a703b2e68ce35db1a73a84579'],
  ])('makes the same records in the same order on every machine: %s', async (table, columns, digest) => {
    const digests = await rowsOf(
      `SELECT md5(string_agg(concat_ws('|', event_time, coalesce(placement_id, -1), container_id,
         publisher_account_id, publisher_company_id, coalesce(device_or_proxy, '-'), ${columns}), ';'
         ORDER BY filename, file_row_number))
       FROM read_parquet('${sample}/${table}/*/*.parquet', filename = true, file_row_number = true)`,
    );
    expect(digests).toEqual([[digest]]);
  });

  it.each([0, 1])('makes records for a report that has %i counts', async (counts) => {
    const [count] = metricsOf(advertiserReport);
    const fields: readonly Field[] = advertiserReport.fields.filter(
      (field) => field.role === 'dimension' || (counts === 1 && field === count),
    );
    const rows = sampleRows({ ...advertiserReport, fields }, 1, sampleDays(59_000).slice(0, 1));
    expect(await rowsOf(`SELECT count(*) > 500 FROM (${rows})`)).toEqual([[true]]);
  });

  it.each(tables)('gives every column of $name several values', async ({ name, columns }) => {
    const single = columns.map((column) => `count(DISTINCT ${column.name}) < 2`).join(' OR ');
    expect(await rowsOf(`SELECT ${single} FROM sample.${name}`)).toEqual([[false]]);
  });

  // What the records are for. The digests change with every change of the generator; these answers do not.
  it('counts only container opens in records without a placement, and none in the others', async () => {
    const answer = await rowsOf(`SELECT count(*) FILTER (placement_id IS NULL) > 2000,
      count(*) FILTER ((placement_id IS NULL) <> (container_opens > 0)),
      count(*) FILTER (container_opens > 0 AND (served_ads + placement_opens + clicks > 0 OR revenue <> 0))
      FROM sample.publisher_events`);
    expect(answer).toEqual([[true, '0', '0']]);
  });

  it.each([
    ['creative_id', ['campaign_line_id', 'campaign_id', 'advertiser_company_id']],
    ['placement_id', ['container_id', 'publisher_account_id', 'publisher_company_id']],
  ])('gives every %s one of each of %j, the same in both tables', async (id, parents) => {
    const most = parents.map((parent) => `count(DISTINCT ${parent})`).join();
    const answer = await rowsOf(`SELECT count(*) > 1000, max(most) FROM (SELECT greatest(${most}) AS most
      FROM (FROM sample.publisher_events UNION ALL BY NAME FROM sample.advertiser_events)
      WHERE ${id} IS NOT NULL GROUP BY ${id})`);
    expect(answer).toEqual([[true, '1']]);
  });

  it('reports its progress at the start and after each day', () => {
    const days = 59 * tables.length;
    expect(progress).toEqual(Array.from({ length: days + 1 }, (_, done) => `${done}/${days}`));
  });

  it('marks every day except the last as complete, and restates one by a file of a twelfth of its records', async () => {
    for (const { name } of tables) {
      const names = await readdir(join(sample, name), { recursive: true });
      const others = names.filter((file) => /\w\/(?!(?:events\.parquet|_SUCCESS)$)/.test(file));
      expect(others).toEqual(['day=2026-02-24/late-events.parquet']);
      const isMarked = (day: string) => existsSync(join(sample, name, day, '_SUCCESS'));
      expect((await readdir(join(sample, name))).filter((day) => !isMarked(day))).toEqual(['day=2026-02-28']);
      const [share] = await rowsOf(
        `SELECT count(*) FILTER (filename LIKE '%late-events.parquet') * 12 BETWEEN count(*) - 12 AND count(*)
         FROM read_parquet('${sample}/${name}/day=2026-02-24/*.parquet', filename = true)`,
      );
      expect(share).toEqual([true]);
    }
  });

  it('is made once, and deletes unfinished events, except those of a running process and of other containers', async () => {
    const onProgress = () => expect.unreachable('it was made again');
    expect(await makeSampleEvents({ directory: home, ...records, onProgress })).toBe(sample);
    const left = (await readdir(home)).filter((name) => name.includes('partial'));
    expect(left.sort()).toEqual([`${process.pid}-${thisPlace}-abcdef`, ELSEWHERE].map(unfinished).sort());
  });

  it('leaves no files behind if it fails half-way', async () => {
    const half = join(home, 'half');
    const onProgress = (done: number) => {
      if (done === 3) throw new Error('the disk is full');
    };
    const made = makeSampleEvents({ directory: half, records: 59, onProgress });
    await expect(made).rejects.toThrow('the disk is full');
    expect(await readdir(half)).toEqual([]);
  });

  it('makes texts that are hard to write and read if the caller asks for them', async () => {
    const directory = join(home, 'awkward');
    const records = { records: 0, recordsOf: { advertiser_events: 20_000 } };
    const made = await makeSampleEvents({ directory, ...records, hasAwkwardTexts: true });
    const [texts] = await rowsOf(
      `SELECT list(DISTINCT demand_origin ORDER BY demand_origin)
       FROM read_parquet('${made}/advertiser_events/*/*.parquet') WHERE demand_origin IS NOT NULL`,
    );
    const awkward = [`O'Brien" OR 1=1 --`, 'two\nlines', 'Zürich', '日本', '📱 app', ' spaces around ', ''];
    expect(texts?.[0]).toEqual(expect.arrayContaining(awkward));
  });
});
