import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { describeCsv } from '../../tools/lake/input/csv-file.ts';
import { readerOf } from '../../tools/lake/input/plan-input.ts';
import { differingDialects } from '../tools/csv-dialects.ts';

it('CSV files of ten thousand dialects are read unchanged, or refused', { timeout: 2_400_000 }, async () => {
  const { differing, read, refused } = await differingDialects(10_000, 1);
  expect(differing).toEqual([]);
  expect(Math.min(read, refused)).toBeGreaterThan(1_000);
});

/** Counts the records of a CSV file and adds up a column, as RFC 4180 says. */
const PYTHON = `import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline=''), strict=True))[1:]
print(len(rows), sum(int(row[2]) for row in rows), sum(len(row[0]) for row in rows))`;

it('texts of several lines in files over 8 MB are read as Python reads them', {
  timeout: 1_200_000,
}, async () => {
  const home = await mkdtemp(join(tmpdir(), 'dialects-'));
  const connection = await (await DuckDBInstance.create()).connect();
  const path = join(home, 'texts.csv');
  const record = (text: string, ads: number) => `"${text}",phone,${ads},2026-01-31T10:00:00Z\n`;
  const texts = ['\nnote,phone,5,2026-01-31T10:00:00Z\nx', '""\na', 'a\r\n""b"",\n'];
  for (let alignment = 0; alignment < 60; alignment++) {
    const body = record(texts[alignment % texts.length] as string, alignment % 2).repeat(140_000 + alignment);
    const head = `note,device_or_proxy,served_ads,event_time\n${record('p'.repeat(alignment), 0)}`;
    await writeFile(path, head + body);
    const { read, columns } = await describeCsv({ name: path, path, isGzip: false }, undefined);
    const [note, , ads] = columns.map(({ sql }) => sql);
    const sql = `SELECT count(*), sum(${ads}::INT), sum(len(${note})) FROM ${readerOf([{ name: path, path, read }])}`;
    const [found] = (await connection.runAndReadAll(sql)).getRowsJson();
    expect(found?.join(' ')).toBe(execFileSync('python3', ['-c', PYTHON, path], { encoding: 'utf8' }).trim());
  }
  connection.closeSync();
  await rm(home, { recursive: true });
});
