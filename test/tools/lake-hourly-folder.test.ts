import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderSource, type LakeSource } from '../../lake-check/lake-source.ts';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { tableOf } from '../../lib/report/tables.ts';
import { makeDay } from '../../tools/lake/hourly/hourly-day.ts';
import { hoursLake } from '../../tools/lake/hourly/hourly-facts.ts';
import { openWorkspace } from '../../tools/lake/open-duckdb.ts';
import { daysIn } from '../../tools/lake/store/lake-target.ts';
import { publisherRecord, writingFolder } from './make-parquet.ts';
import { type LakeRun, runLake } from './run-lake.ts';

const TABLE = 'publisher_events';
const DAY = '2026-01-31';

const { folder: home, writer } = await writingFolder();

/** Writes a raw lake with one day and one file. The file has two records of one hour, each with `clicks` clicks. */
const rawDay = (name: string, clicks: number, changed = {}) => {
  const one = publisherRecord({ clicks: `${clicks}::BIGINT`, ...changed });
  return writer.file(`${name}/raw/${TABLE}/day=${DAY}/part.parquet`, `${one} UNION ALL ${one}`);
};
const hourly = (name: string, ...options: readonly string[]): Promise<LakeRun> =>
  runLake(['hourly', '--from', join(home, name, 'raw'), '--to', join(home, name, 'hours'), ...options]);
const hoursFolder = (name: string) => join(home, name, 'hours', TABLE, `day=${DAY}`);
const clicksIn = async (name: string) => {
  const sql = `SELECT sum(clicks)::INTEGER, count(*)::INTEGER FROM '${hoursFolder(name)}/hours.parquet'`;
  return (await writer.rows(sql))[0];
};

it('lake hourly reads files as the engines do: narrower types, NULL for missing columns, no extra columns, no hidden files', async () => {
  await rawDay('engines', 1, { clicks: '7::INTEGER', served_ads: undefined });
  const folder = `engines/raw/${TABLE}/day=${DAY}`;
  const narrow = publisherRecord({ revenue: '2.5::DECIMAL(9,6)' });
  await writer.file(`${folder}/more.parquet`, `SELECT *, 1 AS other FROM (${narrow})`);
  await writer.file(`${folder}/_hidden.parquet`, publisherRecord());
  expect((await hourly('engines')).stdout).toMatch(/: 3 records, by the hour 1 record\n/);
  const sums = 'sum(clicks)::INTEGER, sum(served_ads)::INTEGER, sum(revenue)::VARCHAR';
  const rows = await writer.rows(`SELECT ${sums} FROM '${hoursFolder('engines')}/hours.parquet'`);
  expect(rows).toEqual([[7 + 7 + 1, 1, '4.500000']]);
});

it('lake hourly names a day that it cannot sum, and sums the other days', async () => {
  await rawDay('wrong', 1, { clicks: '9223372036854775807::BIGINT' });
  const raw = `wrong/raw/${TABLE}`;
  await writer.file(`${raw}/day=2026-01-29/part.parquet`, publisherRecord({ revenue: '1.5::DOUBLE' }));
  await writeFile(join(home, `${raw}/day=2026-01-29/other.csv`), 'x');
  const right = publisherRecord({ event_time: "TIMESTAMP '2026-01-30 12:00:00'" });
  await writer.file(`${raw}/day=2026-01-30/part.parquet`, right);
  const { code, stdout } = await hourly('wrong');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^publisher_events: 1 day summed \(2026-01-30\)/);
  expect(stdout).toMatch(/NOT DONE: 2026-01-29: \S*other\.csv: it is not a Parquet file/);
  expect(stdout).toMatch(/NOT DONE: 2026-01-31: an hour of equal dimensions adds up to more than a column/);
  expect(stdout).toMatch(/\nNot all is done\./);
});

it('lake hourly treats a day without a marker as open if the table has had markers, and replaces a damaged file once the day is final', async () => {
  await rawDay('marks', 1);
  const raw = join(home, `marks/raw/${TABLE}`);
  await rename(join(raw, `day=${DAY}`), join(raw, 'day=2026-01-30'));
  await writeFile(join(raw, 'day=2026-01-30/_SUCCESS'), '');
  expect((await hourly('marks')).code).toBe(0);
  await rm(join(raw, 'day=2026-01-30'), { recursive: true });
  await rawDay('marks', 2);
  expect((await hourly('marks', '--day', DAY)).stdout).toMatch(/1 day summed \(2026-01-31, one open\)/);
  await writeFile(join(hoursFolder('marks'), 'hours.parquet'), 'no Parquet file');
  expect((await hourly('marks')).stdout).toMatch(/\(2026-01-31\) kept/);
  await writeFile(join(raw, `day=${DAY}/_SUCCESS`), '');
  expect((await hourly('marks')).code).toBe(0);
  expect(await clicksIn('marks')).toEqual([4, 1]);
});

/** Makes the hours of a raw lake's only day. `filesOf` replaces the function that fetches the day's files. */
async function makeRawDay(name: string, filesOf: (raw: LakeSource) => LakeSource['filesOf']) {
  const raw = folderSource(join(home, name, 'raw'));
  const to = join(home, name, 'hours');
  await using workspace = await openWorkspace(to);
  const [listed] = daysIn(await raw.list(), TABLE);
  const lakes = { raw: { ...raw, filesOf: filesOf(raw) }, hours: hoursLake(to, home) };
  const options = { isFinal: () => true, again: false, replace: false };
  const table = tableOf(publisherReport);
  const hourly = { workspace, ...lakes, table, report: publisherReport, ...options };
  return await makeDay(hourly, DAY, { raw: listed, hours: undefined });
}

it.each([
  ['written again', 'part'],
  ['replaced by a file of another name', 'other'],
])('lake hourly reads a day again if the day’s file was %s during the read', async (_, name) => {
  const change = async () => {
    await rawDay('changing', 2);
    const day = join(home, `changing/raw/${TABLE}/day=${DAY}`);
    await rename(join(day, 'part.parquet'), join(day, `${name}.parquet`));
  };
  await rm(join(home, 'changing'), { recursive: true, force: true });
  await rawDay('changing', 1);
  const raw = folderSource(join(home, 'changing/raw'));
  let reads = 0;
  const outcome = await makeRawDay('changing', (source) => async (files) => {
    if (++reads === 1) await change();
    return source.filesOf(files);
  });
  expect(outcome).toMatchObject({ action: 'write-final', summed: { records: 2, hours: 1 } });
  const [now] = daysIn(await raw.list(), TABLE);
  const note = JSON.parse(await readFile(join(hoursFolder('changing'), '_SUCCESS'), 'utf8'));
  expect(note).toMatchObject({ version: now?.version });
  expect(await clicksIn('changing')).toEqual([4, 1]);
});
