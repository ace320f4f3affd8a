import { afterAll, beforeAll, describe, it } from 'vitest';
import { pythonWith } from '../clients/python.ts';
import { bringIn, type Source, titleOf } from './bring-in.ts';
import { type Written, writtenBy } from './python-source.ts';

/** The cases of a name, of which there is a CSV file and a Parquet file. */
const bothFiles = ({ name, cured, ...rest }: Source): Source[] =>
  ['csv', 'parquet'].map((file) => ({
    ...rest,
    name: `${name}.${file}`,
    ...(cured && { cured: { ...cured, ...(cured.name && { name: `${cured.name}.${file}` }) } }),
  }));

const SOURCES: readonly Source[] = [
  ...[
    { name: 'default' },
    { name: 'zone' },
    { name: 'local', options: ['--time-zone', 'America/New_York'] },
    { name: 'decimals' },
    { name: 'long-decimals' },
    { name: 'nullable' },
    { name: 'arrow-text' },
    { name: 'categories' },
    { name: 'text' },
    { name: 'epoch-s' },
    { name: 'epoch-ms' },
    { name: 'epoch-us' },
    { name: 'epoch-ns' },
    { name: 'epoch-ms', options: ['--time-unit', 'milliseconds'] },
    { name: 'noisy', refused: /revenue: .*--round/, cured: { options: ['--round'] } },
    { name: 'noisy', refused: /revenue: .*[Rr]ound/, cured: { name: 'noisy-at-source' } },
    {
      name: 'large-floats',
      refused: /publisher_account_id: .*Write integers at the source/,
      cured: { name: 'large-integers' },
    },
    { name: 'no-time', refused: /event_time: in 1 record, /, cured: { name: 'no-time-left-out' } },
    {
      name: 'clock-change-local',
      options: ['--time-zone', 'Europe/Berlin'],
      refused: /2025-10-26/,
      cured: { name: 'clock-change-zone', options: [] },
    },
  ].flatMap(bothFiles),
  { name: 'semicolons.csv' },
  { name: 'thousands.csv', refused: /revenue: .*"[\d,.]+"/, cured: { name: 'thousands-removed.csv' } },
  { name: 'decimal-comma.csv', refused: /revenue: .*,/, cured: { name: 'semicolons.csv' } },
  { name: 'single-floats.parquet', refused: /revenue: /, cured: { name: 'default.parquet' } },
];

describe.each([
  ['2', 'pandas==2.3.3'],
  ['3', 'pandas==3.1.1'],
])('pandas %s', async (version, pandas) => {
  const python = (await pythonWith(`pandas-${version}`, [pandas, 'pyarrow==26.0.1'])) ?? '';
  let written: Written;
  beforeAll(async () => {
    if (python) written = await writtenBy(python, 'pandas_source.py');
  });
  afterAll(() => written?.[Symbol.asyncDispose]());

  it.skipIf(!python).each(SOURCES.map((source) => [titleOf(source), source] as const))('%s', (_, source) =>
    bringIn(written.home, source),
  );
});
