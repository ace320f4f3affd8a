import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { describeCsv } from '../../tools/lake/input/csv-file.ts';
import { readerOf } from '../../tools/lake/input/plan-input.ts';
import { randomNumbers } from '../e2e/known-events.ts';

const FIELDS = [
  ...["'5", '\\5', '5', "'2026-02-01", '2026-02-01', "L'Equipe", "don't", 'C:\\new', 'a\\\\b', 'a\\'],
  ...["'a'", "''", '', ' ', ' a', 'a ', 'a "b" c', '"', '"5', '""', '5"', 'a,b', 'a;b', 'a\tb', 'a|b'],
  ...['#a', 'é', 'NULL', '\\N', 'a\nb', 'a\r\nb', 'x,\n"y'],
];
const SEPARATORS = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' };

/** The ways in which programs write a field. Only the first is always that of RFC 4180. */
const WRITERS: readonly ((field: string, separator: string) => string)[] = [
  (field, separator) =>
    /["\r\n]/.test(field) || field.includes(separator) ? `"${field.replaceAll('"', '""')}"` : field,
  (field) => `"${field.replaceAll('"', '""')}"`,
  (field) => field,
  (field) => `"${field.replaceAll('"', '\\"')}"`,
  (field) => `'${field.replaceAll("'", "''")}'`,
  (field, separator) => field.replaceAll(separator, `\\${separator}`),
];

/** Writes files in random dialects, and lists those that are neither refused nor read as RFC 4180 says. */
export async function differingDialects(files: number, seed: number) {
  const home = await mkdtemp(join(tmpdir(), 'dialects-'));
  const connection = await (await DuckDBInstance.create()).connect();
  const random = randomNumbers(seed);
  const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const path = join(home, 'a.csv');
  const differing: unknown[] = [];
  let [read, refused] = [0, 0];
  for (let file = 0; file < files; file++) {
    const separator = one(Object.values(SEPARATORS));
    const [writer, lineEnd, columns] = [one(WRITERS), one(['\n', '\r\n']), 2 + Math.floor(random() * 4)];
    const header = ['clicks', 'event_time', 'note', 'x', 'device_or_proxy'].slice(0, columns);
    const rows = Array.from({ length: 1 + Math.floor(random() * 5) }, () =>
      header.map(() => writer(one(FIELDS), separator)),
    );
    const text = [header, ...rows].map((row) => row.join(separator)).join(lineEnd) + one(['', lineEnd]);
    await writeFile(path, text);
    const table = await describeCsv({ name: path, path, isGzip: false }, undefined)
      .then((csv) => {
        const select = csv.columns.map(({ sql }) => `coalesce(${sql}, '')`).join(', ');
        return connection.runAndReadAll(`SELECT ${select} FROM ${readerOf([{ name: path, path, ...csv }])}`);
      })
      .catch(() => undefined);
    if (!table) {
      refused += 1;
      continue;
    }
    read += 1;
    // By RFC 4180, and a quote inside of a field without quotes is a part of it.
    const options = { delimiter: separator, relax_quotes: true, relax_column_count: true };
    const wanted: string[][] = parse(text, options).slice(1);
    const isBlank = (row: readonly string[]) => row.length === 1 && row[0] === '';
    if (JSON.stringify(table.getRowsJson()) !== JSON.stringify(wanted.filter((row) => !isBlank(row))))
      differing.push({ text, found: table.getRowsJson(), wanted });
  }
  connection.closeSync();
  await rm(home, { recursive: true });
  return { differing: differing.slice(0, 3), read, refused };
}
