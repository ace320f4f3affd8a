import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readWholeFile } from '../../lake-check/verify-pages.ts';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { type Column, type ColumnType, tableOf } from '../../lib/report/tables.ts';
import { writingFolder } from '../tools/make-parquet.ts';
import * as odd from '../tools/odd-parquet.ts';

const { highestFirst, int, NOON, oddParquet, SCHEMA, text } = odd;
type OddColumn = odd.OddColumn;

import { type LakeRun, runLake } from '../tools/run-lake.ts';

const { columns } = tableOf(publisherReport);
const DAY = 'publisher_events/day=2026-01-31';

const { folder: home, writer: engine } = await writingFolder();

/** A value of each type: n for numbers, `n` as text, and n seconds after noon for times. */
const VALUE: Readonly<Record<ColumnType, (n: number) => Buffer>> = {
  timestamp: (n) => int(NOON + BigInt(n) * 1_000_000n),
  bigint: (n) => int(n),
  varchar: (n) => text(String(n)),
  'decimal(18,6)': (n) => highestFirst(BigInt(n) * 1_000_000n, 8),
};

/** A value as a bound, which has no length in front. */
const boundOf = (type: ColumnType, n: number): Buffer =>
  type === 'varchar' ? Buffer.from(String(n)) : VALUE[type](n);

const rightColumn = ({ name, type }: Column, numbers: readonly (number | null)[]): OddColumn => {
  return { name, schema: SCHEMA[type], values: numbers.map((n) => (n === null ? null : VALUE[type](n))) };
};

/** Columns with these numbers in each, but for container_opens, which has 0. `changed` replaces columns. */
const recordsOf = (numbers: readonly (number | null)[], ...changed: readonly OddColumn[]): OddColumn[] =>
  columns.map((column) => {
    const usual = column.name === 'container_opens' ? numbers.map(() => 0) : numbers;
    return changed.find(({ name }) => name === column.name) ?? rightColumn(column, usual);
  });

async function write(path: string, bytes: Buffer): Promise<void> {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), bytes);
}

async function runAll(lake: string): Promise<Readonly<Record<'check' | 'convert' | 'hourly', LakeRun>>> {
  const from = join(home, lake);
  return {
    check: await runLake(['check', from, '--all']),
    convert: await runLake(['convert', from, '--to', `${from}-converted`, '--table', 'publisher_events']),
    hourly: await runLake(['hourly', '--from', from, '--to', `${from}-hours`]),
  };
}

const sumsOf = (lake: string, column = 'publisher_company_id') =>
  engine.rows(
    `SELECT ${column}::VARCHAR, sum(clicks)::INTEGER FROM '${join(home, lake)}/*/*/*.parquet' GROUP BY 1 ORDER BY 1`,
  );

describe('a page with a checksum', () => {
  it.each(columns.map(({ name }) => name))(
    'whose bit has flipped in %s is refused by each command',
    async (name) => {
      const column = recordsOf([7, 8]).find((one) => one.name === name) as OddColumn;
      const lake = `flipped-${name}`;
      await write(`${lake}/${DAY}/a.parquet`, oddParquet(recordsOf([7, 8], { ...column, isFlipped: true })));
      const { check, convert, hourly } = await runAll(lake);
      const says = RegExp(`column ${name}, row group 1: the checksum of a page is not that of its bytes`);
      expect([check.code, convert.code, hourly.code]).toEqual([1, 2, 1]);
      expect(check.stdout).toMatch(RegExp(`WRONG NUMBERS: ${DAY}/a.parquet\n {3}found {3}${says.source}`));
      expect(check.stdout).toContain('cure    Copy the file again from its source.');
      expect(convert.stderr).toMatch(says);
      expect(hourly.stdout).toMatch(RegExp(`NOT DONE: 2026-01-31: ${DAY}/a.parquet: ${says.source}`));
    },
  );

  it.each([
    ['fewer values than the footer says', { metadata: { 5: 3n } }],
    ['fewer values than there are records', { count: 1 }],
    ['as few values as the footer says, fewer than records', { count: 1, metadata: { 5: 1n } }],
  ])('and %s is refused', async (_, lie) => {
    const [time, ...others] = recordsOf([7, 8]) as [OddColumn, ...OddColumn[]];
    await write('short.parquet', oddParquet([{ ...time, ...lie }, ...others]));
    const { stderr } = await runLake(['convert', join(home, 'short.parquet'), '--to', join(home, 'short')]);
    expect(stderr).toMatch(
      /column event_time, row group 1: the pages hold \d values, and the footer says 2\./,
    );
  });
});

describe('a footer whose bounds are false', () => {
  /** The true statistics of the numbers 11 and 12 and a NULL are `{5: 12, 6: 11, 3: 1}`. */
  const LIES: readonly [
    lie: string,
    statistics: (bound: (n: number) => Buffer) => odd.Thrift,
    says: string,
  ][] = [
    ['lowest', (bound) => ({ 5: bound(12), 6: bound(12), 3: 1n }), 'no value below .* which has'],
    ['highest', (bound) => ({ 5: bound(11), 6: bound(11), 3: 1n }), 'no value above .* which has'],
    ['older lowest', (bound) => ({ 1: bound(12), 2: bound(12) }), 'no value below .* which has'],
    ['none missing', (bound) => ({ 5: bound(12), 6: bound(11), 3: 0n }), '0 NULLs .* which has 1'],
    ['all missing', () => ({ 3: 3n }), '3 NULLs .* which has 1'],
  ];
  const WITH_NULL = columns.filter(({ name }) => name !== 'event_time' && name !== 'container_opens');

  it.each(LIES)(
    'is faulted by check in each column, in the second row group: %s',
    async (lie, statistics, says) => {
      const lake = `false-${lie.replace(' ', '-')}`;
      const times = rightColumn(columns[0] as Column, [1, 2, 3]);
      for (const column of WITH_NULL) {
        const bound = (n: number) => boundOf(column.type, n);
        const first = { ...rightColumn(column, [1, 2]), statistics: { 5: bound(2), 6: bound(1), 3: 0n } };
        const second = { ...rightColumn(column, [11, null, 12]), statistics: statistics(bound) };
        const bytes = oddParquet(recordsOf([1, 2], first), recordsOf([11, 11, 12], times, second));
        await write(`${lake}/${DAY}/${column.name}.parquet`, bytes);
      }
      const { stdout, code } = await runLake(['check', join(home, lake), '--all']);
      expect(code).toBe(1);
      const finding = (name: string) =>
        `WRONG NUMBERS: ${DAY}/${name}.parquet\n {3}column {2}${name}\n {3}found {3}the footer says falsely: ${says}`;
      for (const { name } of WITH_NULL) expect(stdout).toMatch(RegExp(finding(name)));
      expect(stdout.match(/the footer says falsely/g)).toHaveLength(WITH_NULL.length);
      expect(stdout).toContain('in row group 2');
    },
  );

  it.each(['zstd', 'snappy', 'gzip'])('is faulted in a large file, compressed with %s', async (codec) => {
    // The lowest value of each column is nowhere else in the footer. Dictionaries tell these columns' bounds.
    const lowest = (name: string) => 3_000 + 16 * columns.findIndex((column) => column.name === name);
    const bounded = columns.filter(
      ({ name, type }) => /bigint|varchar/.test(type) && name !== 'container_opens',
    );
    const lake = `large-${codec}`;
    const values = bounded.map(({ name, type }) => `(${lowest(name)} + i % 3)::${type} AS ${name}`);
    const others =
      "TIMESTAMP '2026-01-31' AS event_time, 0::BIGINT AS container_opens, 0::DECIMAL(18,6) AS revenue";
    const select = `SELECT ${others}, ${values} FROM range(1000002) AS r(i)`;
    await engine.file(`${lake}/${DAY}/a.parquet`, select, `FORMAT parquet, COMPRESSION ${codec}`);
    expect((await runLake(['check', join(home, lake)])).stdout).not.toContain('falsely');
    const bytes = await readFile(join(home, lake, DAY, 'a.parquet'));
    const footer = bytes.subarray(bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8));
    for (const { name, type } of bounded) {
      const [from, to] = [boundOf(type, lowest(name)), boundOf(type, lowest(name) + 1)];
      for (let at = footer.indexOf(from); at >= 0; at = footer.indexOf(from)) to.copy(footer, at);
    }
    await write(`${lake}/${DAY}/a.parquet`, bytes);
    const { stdout } = await runLake(['check', join(home, lake), '--all']);
    for (const { name } of bounded) {
      const [low, low1] = [lowest(name), lowest(name) + 1];
      const says = `no value below "?${low1}"? in row group \\d+, which has "?${low}`;
      expect(stdout).toMatch(RegExp(`column {2}${name}\\n.*${says}`));
    }
    expect(stdout.match(/the footer says falsely/g)).toHaveLength(bounded.length);
  });

  it('is not faulted if its bounds are wider than the values, or cut texts', async () => {
    const wide = (column: Column): OddColumn => {
      if (column.name === 'container_opens') return rightColumn(column, [0, 0]);
      const [low, high] = [boundOf(column.type, 1), boundOf(column.type, 2_000)];
      return { ...rightColumn(column, [11, 12]), statistics: { 5: high, 6: low, 3: 0n } };
    };
    await write(`wide/${DAY}/a.parquet`, oddParquet(columns.map(wide)));
    const { stdout } = await runLake(['check', join(home, 'wide')]);
    expect(stdout).not.toContain('falsely');
    expect(stdout).toContain('2 records, ');
  });

  it('changes no sum in what convert and hourly write', async () => {
    const bounded = columns.filter(({ type }) => type !== 'decimal(18,6)');
    const lies = bounded.map((column): OddColumn => {
      const isZero = column.name === 'container_opens';
      const [low, high] = (isZero ? [7, 9] : [1001, 1001]).map((n) => boundOf(column.type, n));
      const statistics = { 1: high, 2: low, 5: high, 6: low, 3: 0n };
      return { ...rightColumn(column, isZero ? [0, 0, 0] : [1000, 1001, 1001]), statistics };
    });
    await write(`sums/${DAY}/a.parquet`, oddParquet(recordsOf([1000, 1001, 1001], ...lies)));
    const { check, convert, hourly } = await runAll('sums');
    expect(check.stdout.match(/the footer says falsely/g)).toHaveLength(bounded.length);
    expect([convert.code, hourly.code]).toEqual([0, 0]);
    for (const made of ['sums-converted', 'sums-hours']) {
      for (const { name } of bounded.filter(({ name }) => /_id$|^device/.test(name)))
        expect((await sumsOf(made, name)).join(' ')).toBe('1000,1000 1001,2002');
      // The cure that check prints is true.
      expect((await runLake(['check', join(home, made)])).code).toBe(0);
    }
  });
});

describe('a file that DuckDB reads as other values, or not at all', () => {
  const changed = (column: OddColumn) => oddParquet(recordsOf([3, 4], column));
  const amounts = (digits: number, bytes: number) => {
    const schema = { 1: 7, 2: bytes, 6: 5, 7: 6, 8: digits, 10: { 5: { 1: 6, 2: digits } } };
    const values = [1_500_000n, -2_250_000n].map((value) => highestFirst(value, bytes));
    return changed({ name: 'revenue', schema, values });
  };
  const half = (name: string) =>
    changed({ name, schema: { 1: 7, 2: 2, 10: { 15: {} } }, values: [int(0x4200, 2), int(0x4400, 2)] });
  const longs = (name: string, schema: object) =>
    changed({ name, schema: { 1: 2, ...schema }, values: [int(3), int(4)] });
  const twice = { 6: 5, 7: 2, 8: 18, 10: { 5: { 1: 6, 2: 18 } } };
  const packed = (codec: number) =>
    oddParquet(recordsOf([3]).map((column) => ({ ...column, metadata: { 4: codec } })));
  const keyed = { name: 'clicks', schema: SCHEMA.bigint, values: [int(3), int(4)] };
  const encrypted = oddParquet(recordsOf([3]));
  encrypted.write('PARE');
  encrypted.write('PARE', encrypted.length - 4);
  const cut = Buffer.concat([Buffer.from('PAR1'), half('clicks').subarray(-40)]);
  const MORE = 'No engine here reads decimals of more than 38 digits. `python3 -c "import pyarrow';
  const HALF = 'A half float holds whole numbers to 2,048 only';
  const PLAIN = 'Write the file again with a plain type of Parquet.';
  const KEY = 'Write it without encryption, with a program that has its key.';
  const WRITE = 'Write it again from its source, or remove it';
  const UNREAD = 'which DuckDB does not read';

  it.each<readonly [what: string, bytes: Buffer, found: string, cure: string]>([
    ['amounts of 39 digits', amounts(39, 17), 'DECIMAL(39,6)', MORE],
    ['counts in half floats', half('clicks'), 'half float', HALF],
    ['amounts in half floats', half('revenue'), 'half float', HALF],
    ['a newer annotation', longs('clicks', { 10: { 19: {} } }), 'INT64 annotation 19', PLAIN],
    ['two annotations', longs('revenue', twice), 'INT64 DECIMAL(18,6) DECIMAL(18,2)', PLAIN],
    ['too many digits', longs('revenue', { 6: 5, 7: 2, 8: 19 }), 'INT64 DECIMAL(19,2)', PLAIN],
    ['an encrypted footer', encrypted, 'encrypted', KEY],
    ['an encrypted column', changed({ ...keyed, chunk: { 8: {} } }), 'encrypted', KEY],
    ['LZ4', packed(5), `compressed with LZ4 in the form of Hadoop, ${UNREAD}`, '`python3 -c'],
    ['LZO', packed(3), `compressed with LZO, ${UNREAD}`, WRITE],
    ['a newer codec', packed(9), `compressed with codec 9, ${UNREAD}`, WRITE],
    ['a cut footer', cut, 'not a Parquet file, or not a whole one', WRITE],
  ])('is refused by each command: %s', async (what, bytes, found, cure) => {
    const lake = what.replaceAll(' ', '-');
    await write(`${lake}/${DAY}/a.parquet`, bytes);
    const { check, convert, hourly } = await runAll(lake);
    expect([check.code, convert.code, hourly.code]).toEqual([1, 2, 1]);
    const [, cured = ''] = check.stdout.split(`found   it is ${found}\n`);
    expect(cured.split('\n')[1]).toContain(`   cure    ${cure}`);
    expect(cured.split('\n')[1]).not.toContain('npm run lake');
    for (const said of [convert.stderr, hourly.stdout]) {
      expect(said).toContain(` is ${found}`);
      if (cure !== WRITE) expect(said).toContain(cure.replace(/\.$/, ''));
    }
    expect(hourly.stdout).not.toContain('lake -- convert');
  });
});

it('a flipped bit anywhere in a file is a fault or nothing, and never an error of the program', async () => {
  const bytes = oddParquet(recordsOf([1, null, 3]), recordsOf([4]));
  const faults = new Set<string>();
  // Every third byte: the bit to flip goes through all eight.
  for (let at = 0; at < bytes.length; at += 3) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
    await write('flipped.parquet', damaged);
    const read = await readWholeFile(join(home, 'flipped.parquet'));
    if ('found' in read) faults.add(read.found.replace(/^column .*: /, '').replaceAll(/\d+/g, 'n'));
  }
  const values = 'the pages hold n values, and the footer says n';
  const some = ['it is not a Parquet file, or not a whole one', 'a page is damaged', values];
  expect([...faults]).toEqual(expect.arrayContaining(some));
});
