import { describe, expect, it, vi } from 'vitest';
import { tables } from '../../lib/report/tables.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { followProgress } from '../../tools/lake/convert/conversion-progress.ts';
import { conversionFault, refusal } from '../../tools/lake/convert/refusal.ts';
import { batchesOf, refuseOtherCounts } from '../../tools/lake/convert/stage.ts';
import type { InputFile } from '../../tools/lake/input/input-files.ts';
import { planFiles } from '../../tools/lake/input/plan-input.ts';
import { duckDbMemory, memoryOption, openWorkspace, usualMemory } from '../../tools/lake/open-duckdb.ts';

describe('--memory', () => {
  it.each([
    ['2GB', 2_000_000_000],
    ['1.5 gb', 1_500_000_000],
    ['500MB', 500_000_000],
    ['1GiB', 1_073_741_824],
  ])('reads %s as %i bytes', (text, bytes) => {
    expect(memoryOption(text)).toBe(bytes);
  });

  it.each(['', 'much', '2', 'GB', '-1GB', '499MB', '2 elephants', '1e9 MB'])('refuses "%s"', (text) => {
    const says = 'write how much this may use, like 2GB or 800MB, and at least 500MB';
    const fault = new OperatorFault(`--memory is ${JSON.stringify(text)}; ${says}`);
    expect(() => memoryOption(text)).toThrow(fault);
  });

  it.each([
    ['half of the machine’s memory', 8e9, 0, 4e9],
    ['half of the container’s memory if that is less', 8e9, 2e9, 1e9],
    ['half of the machine’s memory if the container has no limit', 8e9, 2 ** 64, 4e9],
    ['the least that DuckDB needs, if half of the memory is less', 600e6, 0, 500e6],
  ])('is by default %s', (_, machine, container, usual) => {
    expect(usualMemory(machine, container)).toBe(usual);
  });

  it('leaves room for Node.js and for memory that DuckDB does not count', () => {
    expect([500e6, 1e9, 16e9].map(duckDbMemory)).toEqual([200e6, 600e6, 12.6e9]);
  });
});

it('the workspace has DuckDB tell its progress, in UTC, and trust no bounds of files', async () => {
  await using workspace = await openWorkspace();
  const names = ['enable_progress_bar', 'TimeZone', 'disabled_optimizers'];
  const settings = names.map((name) => `current_setting('${name}')::VARCHAR`);
  const reader = await workspace.connection.runAndReadAll(`SELECT ${settings.join(', ')}`);
  expect(reader.getRowsJS()[0]).toEqual(['true', 'UTC', expect.stringContaining('filter_pushdown')]);
});

describe('files that are read together', () => {
  const columns = tables
    .flatMap((table) => (table.name === 'publisher_events' ? table.columns : []))
    .map(({ name }) => ({ name, type: 'BIGINT', sql: name }));
  const file = (name: string, others: Partial<InputFile> = {}): InputFile => ({
    ...{ name, path: name, read: { call: 'read_parquet', options: '' }, columns, rows: 1, bytes: 10 },
    ...others,
  });
  const planned = (files: readonly InputFile[]) => planFiles(files, { timeUnit: 'seconds' }).plans;

  it('are Parquet files of equal types; a CSV file is read by itself', () => {
    const csv: Partial<InputFile> = { read: { call: 'read_csv', options: '' } };
    const narrow = columns.map((one) => (one.name === 'clicks' ? { ...one, type: 'INTEGER' } : one));
    const files = [file('a'), file('b', csv), file('c', { columns: narrow }), file('d'), file('e', csv)];
    const batches = planned(files).flatMap(batchesOf);
    expect(batches.map((batch) => batch.map(({ name }) => name).join())).toEqual(['a,d', 'b', 'e', 'c']);
  });

  it('must hold as many records as DuckDB reads of them', () => {
    const plans = planned([file('a'), file('b')]);
    const staged = (rows: number) => plans.map(({ table }) => ({ table, rows }));
    expect(() => refuseOtherCounts(staged(2), plans)).not.toThrow();
    expect(() => refuseOtherCounts(staged(3), plans)).toThrow('hold 2 records, and DuckDB reads 3');
    expect(() => refuseOtherCounts([], plans)).toThrow('hold 2 records, and DuckDB reads 0');
  });

  it('are at most 500', () => {
    const plans = planned(Array.from({ length: 1001 }, (_, index) => file(String(index))));
    expect(plans.flatMap(batchesOf).map(({ length }) => length)).toEqual([500, 500, 1]);
  });
});

it('the progress of a conversion rises from 0 to its end, file by file and then day by day', () => {
  vi.useFakeTimers();
  const told: number[] = [];
  const duckDb = { progress: { percentage: -1, rows_processed: 0n, total_rows_to_process: 0n } };
  const files = [{ name: 'a.csv', read: { call: 'read_csv', options: '' } }] as const;
  const progress = followProgress(duckDb, files, (_, done, total) => told.push(done / total));
  const at = (...percentages: readonly number[]) => {
    for (const percentage of percentages) {
      duckDb.progress.percentage = percentage;
      vi.advanceTimersByTime(1_000);
    }
  };
  progress.readFrom(0, 0.5);
  at(-1, 50, 100.5);
  progress.readFrom(0.5, 0.5);
  at(0, 100);
  progress.writeFrom(0, 1);
  at(60);
  progress.end();
  at(0);
  vi.useRealTimers();
  expect(told).toEqual([0, 0.1875, 0.375, 0.375, 0.75, 0.9, 1]);
});

describe('a conversion that fails half-way', () => {
  const full = new Error('IO Error: Could not write file "x": No space left on device');
  const noSpace = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const memory = new Error('Out of Memory Error: could not allocate block');
  const away = new OperatorFault('s3://b can’t be reached.');
  const NOTHING =
    /^Nothing was written\. The disk that holds \/lake is full\. .*Make room\. Then run the same command again\.$/;
  const SOME =
    /^The disk that holds \/lake is full\. .*\n2 of 7 days are written, each of them whole\. .* with --replace\.$/;
  const HERE = /^The disk of this machine is full: .*TMPDIR.*\n0 of 7 days .* with --replace\.$/;
  const MORE =
    /^The memory that this may use is too little\. Say a larger --memory\.\n0 of 7 days .*same command again\.$/;
  it.each([
    ['a disk that is full before any day is written', full, '/lake', 0, 0, NOTHING],
    ['a disk that is full after some days are written', noSpace, '/lake', 2, 7, SOME],
    ['a full disk of this machine if the lake is in a bucket', full, 's3://b', 0, 7, HERE],
    ['too little memory', memory, '/lake', 0, 7, MORE],
    ['the message of an OperatorFault', away, 's3://b', 1, 2, /^s3:.*reached\.\n1 of 2 days are written/],
  ])('reports %s', (_, error, to, daysWritten, days, message) => {
    const fault = conversionFault(error, { to, daysWritten, days });
    expect(fault).toBeInstanceOf(OperatorFault);
    expect(fault.message).toMatch(message);
  });

  it('does not change the text of an unexpected error', () => {
    const error = new Error('INTERNAL Error: Assertion triggered');
    expect(conversionFault(error, { to: '/lake', daysWritten: 0, days: 1 })).toBe(error);
  });
});

const linesOf = (faults: readonly string[]) => refusal(faults).message.split('\n');

it('a refusal shows three of many files with the same fault, even if counts and examples differ', () => {
  const says = (index: number) =>
    `in ${index + 2} records, "${index}\\"," for example has separators. Mend it`;
  const parts = Array.from({ length: 1_000 }, (_, index) => `part-${index}: revenue: ${says(index)}`);
  expect(linesOf([...parts, 'part-1: clicks: in 1 record, "-1" is a count below 0'])).toEqual([
    'Nothing was written. 1,001 things stand against it:',
    ...parts.slice(0, 3).map((part) => `  ${part}`),
    '  and alike in 997 more files',
    '  part-1: clicks: in 1 record, "-1" is a count below 0',
  ]);
});

it('a refusal shows 50 of 60 different faults, and the number of the others', () => {
  const lines = linesOf(Array.from({ length: 60 }, (_, index) => `a.csv: column ${index}: is wrong`));
  expect(lines[0]).toMatch(/ 60 things stand against it:$/);
  expect(lines).toHaveLength(1 + 50 + 1);
  expect(lines.at(-1)).toBe('  and 10 lines more');
});
