import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWholeFile } from '../../lake-check/verify-pages.ts';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { type Column, type ColumnType, tableOf } from '../../lib/report/tables.ts';
import { openWorkspace } from '../../tools/lake/workspace/open-duckdb.ts';
import { openWriter, type Writer } from '../tools/make-parquet.ts';
import {
  highestFirst,
  int,
  NOON,
  type OddColumn,
  oddParquet,
  SCHEMA,
  type Thrift,
  text,
} from '../tools/odd-parquet.ts';
import { type LakeRun, runLake } from '../tools/run-lake.ts';

const { columns } = tableOf(publisherReport);
const DAY = 'publisher_events/day=2026-01-31';

let home: string;
let engine: Writer;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parquet-files-'));
  engine = await openWriter(home);
});
afterAll(async () => {
  engine[Symbol.dispose]();
  await rm(home, { recursive: true });
});

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

const rightColumn = ({ name, type }: Column, numbers: readonly (number | null)[]): OddColumn => ({
  name,
  schema: SCHEMA[type],
  values: numbers.map((n) => (n === null ? null : VALUE[type](n))),
});

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

/** Runs the three commands on a lake. */
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

  it('that is right is read, in a file of several row groups', async () => {
    await write(`whole/${DAY}/a.parquet`, oddParquet(recordsOf([7]), recordsOf([8, 8]), recordsOf([9])));
    const { check, convert, hourly } = await runAll('whole');
    expect([check.code, convert.code, hourly.code]).toEqual([0, 0, 0]);
    expect(check.stdout).toContain('4 records of 3 companies');
    for (const lake of ['whole-converted', 'whole-hours'])
      expect(await sumsOf(lake)).toEqual([
        ['7', 7],
        ['8', 16],
        ['9', 9],
      ]);
  });

  it.each([
    ['fewer values than the footer says', { metadata: { 5: 3n } }],
    ['fewer values than there are records', { count: 1 }],
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
  const LIES: readonly [lie: string, statistics: (type: ColumnType) => Thrift, says: string][] = [
    [
      'lowest',
      (type) => ({ 5: boundOf(type, 12), 6: boundOf(type, 12), 3: 1n }),
      'no value below .* which has',
    ],
    [
      'highest',
      (type) => ({ 5: boundOf(type, 11), 6: boundOf(type, 11), 3: 1n }),
      'no value above .* which has',
    ],
    [
      'older lowest',
      (type) => ({ 1: boundOf(type, 12), 2: boundOf(type, 12) }),
      'no value below .* which has',
    ],
    [
      'none missing',
      (type) => ({ 5: boundOf(type, 12), 6: boundOf(type, 11), 3: 0n }),
      '0 NULLs .* which has 1',
    ],
    ['all missing', () => ({ 3: 3n }), '3 NULLs .* which has 1'],
  ];
  const WITH_NULL = columns.filter(({ name }) => name !== 'event_time' && name !== 'container_opens');

  it.each(LIES)(
    'is faulted by check in each column, in the second row group: %s',
    async (lie, statistics, says) => {
      const lake = `false-${lie.replace(' ', '-')}`;
      for (const column of WITH_NULL) {
        const times = { ...rightColumn(columns[0] as Column, [1, 2, 3]) };
        const second = { ...rightColumn(column, [11, null, 12]), statistics: statistics(column.type) };
        const first = {
          ...rightColumn(column, [1, 2]),
          statistics: { 5: boundOf(column.type, 2), 6: boundOf(column.type, 1), 3: 0n },
        };
        await write(
          `${lake}/${DAY}/${column.name}.parquet`,
          oddParquet(recordsOf([1, 2], first), recordsOf([11, 11, 12], times, second)),
        );
      }
      const { stdout, code } = await runLake(['check', join(home, lake), '--all']);
      expect(code).toBe(1);
      for (const { name } of WITH_NULL)
        expect(stdout).toMatch(
          RegExp(
            `WRONG NUMBERS: ${DAY}/${name}.parquet\n {3}column {2}${name}\n {3}found {3}the footer says falsely: ${says}`,
          ),
        );
      expect(stdout.match(/the footer says falsely/g)).toHaveLength(WITH_NULL.length);
      expect(stdout).toContain('in row group 2');
    },
  );

  it('is not faulted if its bounds are wider than the values, or cut texts', async () => {
    const wide = ({ name, type }: Column) => ({
      ...rightColumn({ name, type, meaning: '' }, name === 'container_opens' ? [0, 0] : [11, 12]),
      ...(name !== 'container_opens' && {
        statistics: { 5: boundOf(type, 2_000), 6: boundOf(type, 1), 3: 0n },
      }),
    });
    await write(`wide/${DAY}/a.parquet`, oddParquet(columns.map(wide)));
    const { stdout } = await runLake(['check', join(home, 'wide')]);
    expect(stdout).not.toContain('falsely');
    expect(stdout).toContain('2 records of 2 companies');
  });

  it.each(columns.filter(({ type }) => type !== 'decimal(18,6)'))(
    'changes no sum in what convert and hourly write: $name',
    async ({ name, type }) => {
      const lake = `sums-${name}`;
      const numbers = name === 'container_opens' ? [0, 0, 0] : [1000, 1001, 1001];
      const lie = name === 'container_opens' ? [7, 9] : [1001, 1001];
      const [low = 0, high = 0] = lie;
      const column = {
        ...rightColumn({ name, type, meaning: '' }, numbers),
        statistics: {
          1: boundOf(type, high),
          2: boundOf(type, low),
          5: boundOf(type, high),
          6: boundOf(type, low),
          3: 0n,
        },
      };
      await write(`${lake}/${DAY}/a.parquet`, oddParquet(recordsOf([1000, 1001, 1001], column)));
      const { check, convert, hourly } = await runAll(lake);
      expect(check.stdout).toContain('falsely');
      expect([convert.code, hourly.code]).toEqual([0, 0]);
      const times = [
        ['1000', 1000],
        ['1001', 2002],
      ];
      for (const made of [`${lake}-converted`, `${lake}-hours`]) {
        expect(await sumsOf(made)).toEqual(times);
        if (name.endsWith('_id') || name === 'device_or_proxy')
          expect(await sumsOf(made, name)).toEqual(times);
        // The cure that check prints is true.
        expect((await runLake(['check', join(home, made)])).code).toBe(0);
      }
    },
  );

  it('decides nothing in a query of the lake commands', async () => {
    const lie = (name: string, type: ColumnType) => ({
      ...rightColumn({ name, type, meaning: '' }, [1000, 1001, null]),
      statistics: { 5: boundOf(type, 1001), 6: boundOf(type, 1001), 3: 0n },
    });
    const columns = [lie('clicks', 'bigint'), lie('device_or_proxy', 'varchar')];
    await write('lie.parquet', oddParquet(columns, columns));
    await using workspace = await openWorkspace();
    const answers = async (sql: string) =>
      (await workspace.connection.runAndReadAll(sql.replace('FILE', `'${home}/lie.parquet'`))).getRowsJson();
    expect(
      await answers('SELECT min(clicks), count_if(clicks < 1001), count_if(clicks IS NULL) FROM FILE'),
    ).toEqual([['1000', '2', '2']]);
    expect(
      await answers("SELECT count(*) FROM FILE WHERE clicks = 1000 OR device_or_proxy = '1000'"),
    ).toEqual([['2']]);
    expect(await answers('SELECT count(*) FROM FILE WHERE clicks = 1000')).toEqual([['2']]);
    expect(await answers('SELECT count(*) FROM FILE WHERE device_or_proxy IS NULL')).toEqual([['2']]);
    expect(
      await answers(
        'SELECT clicks FROM FILE JOIN (SELECT 1000 AS wanted UNION ALL SELECT 1000 + 0) ON clicks = wanted GROUP BY ALL',
      ),
    ).toEqual([['1000']]);
    expect(
      await answers('SELECT clicks, count(*) FROM FILE GROUP BY clicks ORDER BY clicks NULLS LAST'),
    ).toEqual([
      ['1000', '2'],
      ['1001', '2'],
      [null, '2'],
    ]);
    expect(await answers('SELECT clicks FROM FILE ORDER BY clicks LIMIT 1')).toEqual([['1000']]);
    expect(await answers('SELECT max(clicks) FROM FILE')).toEqual([['1001']]);
  });
});

describe('a file that DuckDB reads as other values, or not at all', () => {
  const decimal = (digits: number, bytes: number) => ({
    1: 7,
    2: bytes,
    7: 6,
    8: digits,
    10: { 5: { 1: 6, 2: digits } },
  });
  const wide = (name: string, digits: number, bytes: number, ...millionths: bigint[]): OddColumn => ({
    ...{ name, schema: { 6: 5, ...decimal(digits, bytes) } },
    values: millionths.map((value) => highestFirst(value, bytes)),
  });
  const half = (name: string): OddColumn => ({
    ...{ name, schema: { 1: 7, 2: 2, 10: { 15: {} } } },
    values: [0x4200, 0x4400].map((bits) => int(bits, 2)),
  });
  const longs = (name: string, schema: object): OddColumn => ({
    name,
    schema: { 1: 2, ...schema },
    values: [int(3), int(4)],
  });
  const changed = (column: OddColumn) => oddParquet(recordsOf([3, 4], column));
  const packed = (metadata: Thrift) => oddParquet(recordsOf([3]).map((column) => ({ ...column, metadata })));
  const encrypted = oddParquet(recordsOf([3]));
  encrypted.write('PARE');
  encrypted.write('PARE', encrypted.length - 4);
  const MORE = 'No engine here reads decimals of more than 38 digits. `python3 -c "import pyarrow';
  const HALF = 'A half float holds whole numbers to 2,048 only';
  const PLAIN = 'Write the file again with a plain type of Parquet.';
  const WRITE = 'Write it again from its source, or remove it';

  it.each<readonly [what: string, bytes: Buffer, found: string, cure: string]>([
    [
      'amounts of 39 digits',
      changed(wide('revenue', 39, 17, 1_500_000n, -2_250_000n)),
      'DECIMAL(39,6)',
      MORE,
    ],
    [
      'amounts of 53 digits',
      changed(wide('revenue', 53, 23, 1_500_000n, -2_250_000n)),
      'DECIMAL(53,6)',
      MORE,
    ],
    [
      'amounts of 76 digits',
      changed(wide('revenue', 76, 32, 1_500_000n, -2_250_000n)),
      'DECIMAL(76,6)',
      MORE,
    ],
    ['counts of 39 digits', changed(wide('clicks', 39, 17, 3_000_000n, 4_000_000n)), 'DECIMAL(39,6)', MORE],
    ['counts of 76 digits', changed(wide('clicks', 76, 32, 3_000_000n, 4_000_000n)), 'DECIMAL(76,6)', MORE],
    ['counts in half floats', changed(half('clicks')), 'half float', HALF],
    ['amounts in half floats', changed(half('revenue')), 'half float', HALF],
    ['a newer annotation', changed(longs('clicks', { 10: { 19: {} } })), 'INT64 annotation 19', PLAIN],
    [
      'two annotations that disagree',
      changed(longs('revenue', { 6: 5, 7: 2, 8: 18, 10: { 5: { 1: 6, 2: 18 } } })),
      ...(['INT64 DECIMAL(18,6) DECIMAL(18,2)', PLAIN] as const),
    ],
    [
      'too many digits for an integer',
      changed(longs('revenue', { 6: 5, 7: 2, 8: 19 })),
      'INT64 DECIMAL(19,2)',
      PLAIN,
    ],
    [
      'an encrypted footer',
      encrypted,
      'encrypted',
      'Write it without encryption, with a program that has its key.',
    ],
    [
      'LZ4 of Hadoop',
      packed({ 4: 5 }),
      'compressed with LZ4 in the form of Hadoop, which DuckDB does not read',
      '`python3 -c',
    ],
    ['LZO', packed({ 4: 3 }), 'compressed with LZO, which DuckDB does not read', WRITE],
    ['a newer codec', packed({ 4: 9 }), 'compressed with codec 9, which DuckDB does not read', WRITE],
    [
      'a cut footer',
      Buffer.concat([Buffer.from('PAR1'), changed(half('clicks')).subarray(-40)]),
      'not a Parquet file, or not a whole one',
      WRITE,
    ],
  ])('is refused by each command: %s', async (what, bytes, found, cure) => {
    const lake = what.replaceAll(' ', '-');
    await write(`${lake}/${DAY}/a.parquet`, bytes);
    const { check, convert, hourly } = await runAll(lake);
    expect([check.code, convert.code, hourly.code]).toEqual([1, 2, 1]);
    const [, cured = ''] = check.stdout.split(`found   it is ${found}\n`);
    expect(cured.split('\n')[1]).toContain(`   cure    ${cure}`);
    expect(cured.split('\n')[1]).not.toContain('npm run lake');
    for (const said of [convert.stderr, hourly.stdout]) expect(said).toContain(` is ${found}`);
    if (cure !== WRITE)
      for (const said of [convert.stderr, hourly.stdout]) expect(said).toContain(cure.replace(/\.$/, ''));
    expect(hourly.stdout).not.toContain('lake -- convert');
  });
});

it('a flipped bit anywhere in a file is a fault or nothing, and never an error of the program', async () => {
  const bytes = oddParquet(recordsOf([1, null, 3]), recordsOf([4]));
  const faults = new Set<string>();
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
    await write('flipped.parquet', damaged);
    const read = await readWholeFile(join(home, 'flipped.parquet'));
    if ('found' in read) faults.add(read.found.replace(/^column .*: /, '').replaceAll(/\d+/g, 'n'));
  }
  expect([...faults]).toEqual(
    expect.arrayContaining([
      'it is not a Parquet file, or not a whole one',
      'a page is damaged',
      'the pages hold n values, and the footer says n',
    ]),
  );
});

it('lake convert reads decimals in more bytes than their digits need', async () => {
  const schema = { 1: 7, 2: 20, 6: 5, 7: 6, 8: 30, 10: { 5: { 1: 6, 2: 30 } } };
  const values = [1_500_000n, -2_250_000n].map((value) => highestFirst(value, 20));
  await write('long.parquet', oddParquet(recordsOf([3, 4], { name: 'revenue', schema, values })));
  const { stdout, stderr } = await runLake([
    'convert',
    join(home, 'long.parquet'),
    '--to',
    join(home, 'long'),
  ]);
  expect(stderr).toBe('');
  expect(stdout).toContain('revenue -0.750000');
});

it('the writer of odd files writes what DuckDB reads', async () => {
  await write('right.parquet', oddParquet(recordsOf([1, null, 3]), recordsOf([4])));
  expect(
    await engine.rows(
      `SELECT clicks::INTEGER, revenue::VARCHAR, device_or_proxy FROM '${home}/right.parquet'`,
    ),
  ).toEqual([
    [1, '1.000000', '1'],
    [null, null, null],
    [3, '3.000000', '3'],
    [4, '4.000000', '4'],
  ]);
});
