import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
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
  const sums = `SELECT sum(clicks)::INTEGER, count(*)::INTEGER FROM '${hoursFolder('marks')}/hours.parquet'`;
  expect(await writer.rows(sums)).toEqual([[4, 1]]);
});
