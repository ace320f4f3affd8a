import { join } from 'node:path';
import { it } from 'vitest';
import { pythonWith } from '../clients/python.ts';
import { runProgram } from '../clients/run-program.ts';
import { runCommand } from '../deployed/run-command.ts';
import { bringIn, type Source, titleOf } from './bring-in.ts';
import { writtenBy } from './python-source.ts';

const SPARK = 'pyspark==4.3.0';
const OLDEST_JAVA = 17;

/** The longest time to install Spark. pip unpacks and packs half a gigabyte. */
const INSTALL_MS = 1_800_000;

const SOURCES: readonly Source[] = [
  { name: 'int96-decimal-38-18' },
  { name: 'micros-decimal-18-6' },
  { name: 'millis-double' },
  { name: 'no-zone', options: ['--time-zone', 'America/New_York'] },
  { name: 'unix-millis' },
  { name: 'shares', refused: /revenue: .*--round/, cured: { options: ['--round'] } },
  { name: 'backslashes.csv', refused: /Spark: option\("escape"/, cured: { name: 'decimals.csv' } },
  { name: 'doubles.csv' },
  { name: 'doubles.csv.gz' },
  { name: 'int96-decimal-38-18', options: ['--time-zone', 'America/New_York'] },
  { name: 'by-company' },
  {
    name: 'no-header.csv',
    refused: /a CSV file needs them in its first line/,
    cured: { name: 'decimals.csv' },
  },
  { name: 'late-quotes-doubled.csv' },
];

async function sparkPython(): Promise<string | undefined> {
  const { output } = await runCommand('java', ['-version']).catch(() => ({ output: '' }));
  const [, version = '0'] = /version "(\d+)/.exec(output) ?? [];
  if (Number(version) < OLDEST_JAVA) {
    process.stdout.write(`NOT RUN: Spark needs Java, ${OLDEST_JAVA} or later; there is none here.\n`);
    return undefined;
  }
  return pythonWith('spark', [SPARK], (bin) =>
    runProgram(join(bin, 'python'), ['-m', 'pip', 'install', '--quiet', '--no-cache-dir', SPARK], {
      env: process.env as Record<string, string>,
      timeout: INSTALL_MS,
    }),
  );
}

const python = (await sparkPython()) ?? '';
const home = await writtenBy(python, 'spark_source.py');

it.skipIf(!python).each(SOURCES.map((source) => [titleOf(source), source] as const))(
  'the conversion of a folder that Spark writes gives the expected lake: %s',
  (_, source) => bringIn(home, source),
);
