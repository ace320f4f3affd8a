import { describe, it } from 'vitest';
import { pythonWith } from '../clients/python.ts';
import { bringIn, type Source, titleOf } from './bring-in.ts';
import { writtenBy } from './python-source.ts';

/** Makes two sources of one, because pandas writes its records twice: as a CSV file and as a Parquet file. */
const bothFiles = ({ name, ...rest }: Source): Source[] =>
  ['csv', 'parquet'].map((file) => ({ ...rest, name: `${name}.${file}` }));

// Which values are refused, and what cures them, is told by test/tools/lake-values.test.ts.

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
    { name: 'halves', options: ['--round'] },
  ].flatMap(bothFiles),
  { name: 'semicolons.csv' },
  { name: 'words-for-missing.csv', says: /clicks: \d+ values such as NaN.* were read as missing/ },
  { name: 'late-quotes.csv' },
];

describe.each([
  ['2', 'pandas==2.3.3'],
  ['3', 'pandas==3.1.1'],
])('the conversion of files that pandas %s writes', async (version, pandas) => {
  const python = (await pythonWith(`pandas-${version}`, [pandas, 'pyarrow==26.0.1'])) ?? '';
  const home = await writtenBy(python, 'pandas_source.py');

  it.skipIf(!python).each(SOURCES.map((source) => [titleOf(source), source] as const))(
    'gives the expected lake: %s',
    (_, source) => bringIn(home, source),
  );
});
