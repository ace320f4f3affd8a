import { afterAll, beforeAll, describe, it } from 'vitest';
import { pythonWith } from '../clients/python.ts';
import { bringIn, type Source, titleOf } from './bring-in.ts';
import { type Written, writtenBy } from './python-source.ts';

/** Makes two sources of one, because pandas writes its records twice: as a CSV file and as a Parquet file. */
const bothFiles = ({ name, cured, ...rest }: Source): Source[] =>
  ['csv', 'parquet'].map((file) => ({
    ...rest,
    name: `${name}.${file}`,
    ...(cured && { cured: { ...cured, ...(cured.name && { name: `${cured.name}.${file}` }) } }),
  }));

const SOURCES: readonly Source[] = [
  ...[
    { name: 'default', says: /event_time: 1,200 times without an offset were taken as UTC/ },
    { name: 'zone' },
    {
      name: 'local',
      options: ['--time-zone', 'America/New_York'],
      says: /event_time: 1,200 times without an offset were taken as local time of America\/New_York/,
    },
    { name: 'decimals' },
    { name: 'long-decimals' },
    { name: 'nullable' },
    { name: 'arrow-text' },
    { name: 'categories' },
    { name: 'text' },
    { name: 'epoch-s' },
    { name: 'epoch-ms', says: /event_time: 1,200 numbers were read as milliseconds since 1970/ },
    { name: 'epoch-us' },
    { name: 'epoch-ns' },
    { name: 'epoch-floats' },
    { name: 'epoch-ms', options: ['--time-unit', 'milliseconds'] },
    {
      name: 'noisy',
      refused: /revenue: .*--round/,
      cured: { options: ['--round'], says: /revenue: \d+ amounts were rounded/ },
    },
    { name: 'noisy', refused: /revenue: .*[Rr]ound/, cured: { name: 'noisy-at-source' } },
    { name: 'halves', options: ['--round'] },
    {
      name: 'large-floats',
      refused: /publisher_account_id: .*Write integers at the source/,
      cured: { name: 'large-integers' },
    },
    { name: 'no-time', refused: /event_time: in 1 record, /, cured: { name: 'default' } },
    {
      name: 'epoch-mixed',
      refused: /event_time: .*write them in one unit at the source/,
      cured: { name: 'epoch-ms' },
    },
    {
      name: 'twice-local',
      options: ['--time-zone', 'Europe/Berlin'],
      refused: /"2025-10-26 02:00:00.*comes twice in Europe\/Berlin.*Write the offset at the source/,
      cured: { name: 'twice-zone' },
    },
    {
      name: 'twice-earlier',
      options: ['--time-zone', 'Europe/Berlin'],
      refused: /comes twice in Europe\/Berlin.*--ambiguous earlier/,
      cured: { options: ['--time-zone', 'Europe/Berlin', '--ambiguous', 'earlier'] },
    },
    {
      name: 'never-utc',
      options: ['--time-zone', 'Europe/Berlin'],
      refused: /"2026-03-29 02:00:00.*does not exist in Europe\/Berlin.*say another --time-zone/,
      cured: { options: ['--time-zone', 'UTC'] },
    },
  ].flatMap(bothFiles),
  { name: 'semicolons.csv' },
  { name: 'words-for-missing.csv', says: /clicks: \d+ values such as NaN.* were read as missing/ },
  { name: 'late-quotes.csv' },
  { name: 'thousands.csv', refused: /revenue: .*"[\d,.]+"/, cured: { name: 'thousands-removed.csv' } },
  { name: 'decimal-comma.csv', refused: /revenue: .*,/, cured: { name: 'semicolons.csv' } },
  {
    name: 'single-floats.parquet',
    refused: /revenue: .*[Ww]rite decimals/,
    cured: { name: 'decimals.parquet' },
  },
];

describe.each([
  ['2', 'pandas==2.3.3'],
  ['3', 'pandas==3.1.1'],
])('the conversion of files that pandas %s writes', async (version, pandas) => {
  const python = (await pythonWith(`pandas-${version}`, [pandas, 'pyarrow==26.0.1'])) ?? '';
  let written: Written;
  beforeAll(async () => {
    if (python) written = await writtenBy(python, 'pandas_source.py');
  });
  afterAll(() => written?.[Symbol.asyncDispose]());

  it.skipIf(!python).each(SOURCES.map((source) => [titleOf(source), source] as const))(
    'gives the expected lake: %s',
    (_, source) => bringIn(written.home, source),
  );
});
