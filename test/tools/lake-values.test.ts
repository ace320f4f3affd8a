import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { tellChanges } from '../../tools/lake/convert/read-notes.ts';
import { stageAll } from '../../tools/lake/convert/stage.ts';
import { planFiles, RECORD, recordsOf } from '../../tools/lake/input/plan-input.ts';
import { openWorkspace } from '../../tools/lake/open-duckdb.ts';
import { type ValueOptions, valueOptions } from '../../tools/lake/values/convert-value.ts';
import { zoneClocks } from '../../tools/lake/values/time-zone.ts';
import { runLake } from './run-lake.ts';

const workspace = await openWorkspace();
afterAll(() => workspace[Symbol.asyncDispose]());

interface Given extends Omit<ValueOptions, 'clocks'> {
  readonly column: string;
  readonly timeZone?: string;
  readonly type?: string;
  /** The type that the conversion finds in the file's description. By default, it is `type`. */
  readonly declared?: string;
}

const quoted = (text: string | null) => (text === null ? 'NULL' : `'${text.replaceAll("'", "''")}'`);

const rowsOf = async (sql: string) => (await workspace.connection.runAndReadAll(sql)).getRowsJS();

/** The values that `convert` makes from a column's values, and its messages about them, without file and column. */
async function convertColumn(
  { column, type = 'VARCHAR', declared = type, timeZone, ...options }: Given,
  texts: readonly (string | null)[],
) {
  const time = column === 'event_time' ? '' : ", TIMESTAMPTZ '2026-01-31 12:00:00Z' AS event_time";
  const path = join(workspace.directory, 'given.parquet');
  // The list keeps the type: no type of Parquet holds every value of the table of types.
  await rowsOf(
    `COPY (SELECT CAST(col1 AS ${type}) AS ${column} ${time}
     FROM (VALUES ${texts.map((text, index) => `(${index}, ${quoted(text)})`)}) AS listed(col0, col1) ORDER BY col0) TO '${path}' (FORMAT parquet)`,
  );
  const columns = [
    { name: column, type: declared, sql: column },
    ...(time ? [{ name: 'event_time', type: 'TIMESTAMP WITH TIME ZONE', sql: 'event_time' }] : []),
  ];
  const read = { call: 'read_parquet', options: 'union_by_name = false' } as const;
  const file = { name: 'a.csv', path, read, columns, rows: texts.length, bytes: 0 };
  const clocks = timeZone === undefined ? undefined : zoneClocks(timeZone);
  const { plans, faults } = planFiles([file], { table: 'publisher_events', clocks, ...options });
  const [planned] = plans;
  const told = (lines: readonly string[], before: string) =>
    lines.map((line) => (line.startsWith(before) ? line.slice(before.length) : `not of ${before}${line}`));
  if (!planned) return { values: [], losses: told(faults, 'a.csv: '), changes: [] };
  await rm(join(workspace.directory, 'staged'), { recursive: true, force: true });
  const { losses, changes } = await stageAll(workspace, plans, { readFrom: () => {} });
  const records = recordsOf(planned, planned.files);
  const rows = await rowsOf(`SELECT CAST(${RECORD}.${column} AS VARCHAR) FROM ${records}`);
  const values: unknown[] = rows.map(([value]) => value);
  return { values, losses: told(losses, `a.csv: ${column}: `), changes: told(changes, `${column}: `) };
}

type Cases = readonly (readonly [written: string, becomes: string | null])[];

/** Cases in one text: `1e3 1000; 1.5 NULL`. */
const casesOf = (text: string): Cases =>
  text.split(/;\s+/).map((one) => {
    const [written = '', becomes = ''] = one.split(' ');
    return [written, becomes === 'NULL' ? null : becomes];
  });

/** Expects what becomes of a column's values, and the messages about them. */
async function expectColumn(
  given: Given,
  cases: Cases,
  { losses = [], changes = [] }: Readonly<Partial<Record<'losses' | 'changes', readonly unknown[]>>> = {},
) {
  const converted = await convertColumn(
    given,
    cases.map(([written]) => written),
  );
  expect(converted).toEqual({ values: cases.map(([, becomes]) => becomes), losses, changes });
}

/** Each type has its cases, and what is said of those that are refused. */
const exactOrRefused = (column: string, types: Readonly<Record<string, readonly [Cases, ...string[]]>>) =>
  it.each(Object.entries(types))('are exact or refused if their type is %s', (type, [cases, ...losses]) =>
    expectColumn({ column, type }, cases, { losses }),
  );

describe('amounts in text columns', () => {
  const EXACT: Cases = [
    ...casesOf(`7.6e-05 0.000076; 7.6E-5 0.000076; 1E3 1000.000000; 1e+3 1000.000000; -1.5e-1 -0.150000;
      +1.5 1.500000; .5 0.500000; 5. 5.000000; 5.e-1 0.500000; -.5 -0.500000; 007 7.000000; 0 0.000000;
      -0 0.000000; 0e-300 0.000000; 0.1000000000000 0.100000; 999999999999.999999 999999999999.999999;
      -999999999999999999e-6 -999999999999.999999`),
    [' 12.5 ', '12.500000'],
    [' 1e1 ', '10.000000'],
    // The next two texts have more digits than a decimal(18,6). DuckDB's own cast gives NULL for the second text.
    ['1234567.89012000e-1', '123456.789012'],
    ['123456789012123456000000000000000000000000e-30', '123456789012.123456'],
  ];

  it('are exact, even with exponents and signs', () => expectColumn({ column: 'revenue' }, EXACT));

  it('are read as missing, and are reported, if they are NaN, NULL or a similar word', async () => {
    const words = ['NaN', 'nan', 'NULL', 'null', '\\N', 'None', '<NA>', 'NA', ' NaN '];
    expect(await convertColumn({ column: 'revenue' }, [...words, '', ' ', null])).toEqual({
      values: Array(12).fill(null),
      losses: [],
      changes: ['9 values such as NaN, NULL or \\N were read as missing'],
    });
  });

  it('are refused with an error that names each fault and how to correct it', async () => {
    const REFUSED = {
      'in 4 records, "-1e12" for example has more than 12 digits before the point, the most that an amount can have. Correct it at the source':
        '-1e12|1000000000000|1e300|1234567890123.1234567',
      'in 4 records, "0.00007600000000000001" for example has more than six digits after the point. Say --round to round such amounts to six digits, or round them at the source':
        '0.1234567|1e-7|0.00007600000000000001|1e-300',
      'in 2 records, "-Infinity" for example is infinite. Correct it at the source': '-Infinity|inf',
      'in 1 record, "12.5 %" is a percentage. Percentages can not be summed: write the number that was divided, or leave the column out and name it with --without':
        '12.5 %',
      'in 4 records, "$12.50" for example has a currency. Write the number alone; all amounts are of one currency':
        '$12.50|12.50 €|EUR 12.50|1,234.50 USD',
      'in 2 records, "(12.50)" for example is written as a bookkeeper writes less than 0. Write the sign in front: -12.5':
        '(12.50)|12.50-',
      'in 9 records, "1 234" for example has separators between its digits, or a comma for a point. Write 1234':
        "1.234,50|1,234.50|1 234|1\u00a0234|1\u202f234,5|1'234|1_000|12,5|1.234.567",
      'in 9 records, "+-5" for example is no number. Write digits with a point, like 1234.5, or leave it empty':
        'twelve|0x10|.|e5|1.5d|+-5|1e|٣|1.5e3.2',
    };
    const texts = Object.values(REFUSED).flatMap((these) => these.split('|'));
    const { values, losses } = await convertColumn({ column: 'revenue' }, [...texts, '1.5']);
    expect(values).toEqual([...texts.map(() => null), '1.500000']);
    expect(losses).toEqual(Object.keys(REFUSED));
  });

  it.each([
    ['1,234.50', 'Write 1234.50'],
    ['1,234', 'Write 1234 or 1.234, whichever it means'],
    ['12,5', 'Write 12.5'],
    ['-1.234.567', 'Write -1234567'],
    ['1,23,456.7', 'Write 123456.7'],
    ['1 234', 'Write 1234'],
    ['1\u202f234,500', 'Write 1234.500'],
  ])('written as %s get the hint “%s”', async (written, cure) => {
    const { losses } = await convertColumn({ column: 'revenue' }, [written]);
    expect(losses).toEqual([expect.stringMatching(RegExp(`\\. ${cure}$`))]);
  });
});

describe('amounts of other types', () => {
  exactOrRefused('revenue', {
    DOUBLE: [
      casesOf(`0.1 0.100000; 7.6e-05 0.000076; 8589934591.999999 8589934591.999999;
        -1234567.891011 -1234567.891011; NaN NULL; 0.30000000000000004 NULL; 1e-300 NULL;
        8589934592 NULL; inf NULL`),
      'in 2 records, "0.30000000000000004" for example has more than six digits after the point. Say --round to round such amounts to six digits, or round them at the source',
      'in 1 record, "inf" is infinite. Correct it at the source',
      'in 1 record, "8589934592.0" is a float from 8589934592 on, where floats lie farther apart than a millionth: its exact amount is not known. Write decimals at the source',
    ],
    FLOAT: [
      casesOf('0.1 0.100000; 15.999999 15.999999; 0.0000001 NULL; 123.45 NULL'),
      'in 1 record, "1e-07" has more than six digits after the point. Say --round to round such amounts to six digits, or round them at the source',
      'in 1 record, "123.45" is a single float from 16 on, where floats lie farther apart than a millionth: its exact amount is not known. Write decimals at the source',
    ],
    'DECIMAL(38,18)': [
      casesOf(`0.100000000000000000 0.100000; 999999999999.999999 999999999999.999999; 0.0000001 NULL;
        1000000000000 NULL`),
      'in 1 record, "1000000000000.000000000000000000" has more than 12 digits before the point, the most that an amount can have. Correct it at the source',
      'in 1 record, "0.000000100000000000" has more than six digits after the point. Say --round to round such amounts to six digits, or round them at the source',
    ],
    BIGINT: [
      casesOf('-12 -12.000000; 999999999999 999999999999.000000; 1000000000000 NULL'),
      'in 1 record, "1000000000000" has more than 12 digits before the point, the most that an amount can have. Correct it at the source',
    ],
  });
});

describe('--round', () => {
  const HALVES = casesOf(`0.0000005 0.000001; 0.00000049999999999999999999999999999999 0.000000;
    -0.0000005 -0.000001; 0.0000015 0.000002; 0.0000025 0.000003; 1.25 1.250000;
    999999999999.9999994 999999999999.999999; 1.00000050000e-1 0.100000`);

  it('rounds half away from zero, and reports how much that changes', () =>
    // The sum of the changes is 50 - 49.99… - 50 + 50 + 50 - 40 - 5, in units of 10⁻⁸.
    expectColumn({ column: 'revenue', round: true }, HALVES, {
      changes: [
        '7 amounts were rounded to six digits after the point, each by at most 0.0000005; that adds 0.000000050000000000000001 to the sum',
      ],
    }));

  it.each(['DECIMAL(38,9)', 'DOUBLE'])('rounds amounts of the type %s', (type) =>
    expectColumn(
      { column: 'revenue', type, round: true },
      casesOf('0.0000015 0.000002; -0.0000025 -0.000003'),
      {
        changes: [expect.stringContaining('2 amounts were rounded')],
      },
    ),
  );

  it('reports nothing if it rounds nothing, and still refuses values that cannot be amounts', async () => {
    const texts = ['1.5', '1,5', '1000000000000.5'];
    const { changes, losses } = await convertColumn({ column: 'revenue', round: true }, texts);
    expect(changes).toEqual([]);
    expect(losses).toEqual([
      expect.stringContaining('"1000000000000.5" has more than 12 digits'),
      expect.stringContaining('"1,5" has separators'),
    ]);
  });
});

describe('identifiers and counts', () => {
  exactOrRefused('container_id', {
    VARCHAR: [
      [
        ...casesOf(`9223372036854775807 9223372036854775807; -9223372036854775808 -9223372036854775808; 1e3 1000;
          1.5E+1 15; 9223372036854775.807e3 9223372036854775807; 1000.0 1000; 120e-1 12; +5 5; 007 7; 5. 5;
          1.5 NULL; 15e-1 NULL; 9223372036854775808 NULL; 1e19 NULL; 1,234 NULL; 0x10 NULL`),
        [' 7 ', '7'],
        ['', null],
      ],
      'in 2 records, "1.5" for example is no whole number. Identifiers and counts have no fraction: correct it at the source',
      'in 2 records, "1e19" for example needs more than the 64 bits of a whole number. Correct it at the source',
      'in 1 record, "1,234" has separators between its digits, or a comma for a point. Write 1234 or 1.234, whichever it means',
      'in 1 record, "0x10" is no number. Write digits with a point, like 1234.5, or leave it empty',
    ],
    DOUBLE: [
      casesOf(`9007199254740991 9007199254740991; -7 -7; NaN NULL; 9007199254740992 NULL; inf NULL;
        7.5 NULL`),
      'in 1 record, "7.5" is no whole number. Identifiers and counts have no fraction: correct it at the source',
      'in 2 records, "9007199254740992.0" for example is beyond 9007199254740991, where a float no longer holds every whole number: it may have been another. Write integers at the source',
    ],
    'DECIMAL(20,1)': [
      casesOf('7.0 7; 7.5 NULL; 9223372036854775808 NULL'),
      'in 1 record, "7.5" is no whole number. Identifiers and counts have no fraction: correct it at the source',
      'in 1 record, "9223372036854775808.0" needs more than the 64 bits of a whole number. Correct it at the source',
    ],
    UBIGINT: [
      casesOf('7 7; 18446744073709551615 NULL'),
      'in 1 record, "18446744073709551615" needs more than the 64 bits of a whole number. Correct it at the source',
    ],
  });
});

describe('text', () => {
  it('stays unchanged, whatever it contains', async () => {
    const values = ['NaN', 'NULL', '\\N', 'None', '', ' ', '1e3', null];
    const converted = await convertColumn({ column: 'device_or_proxy' }, values);
    expect(converted).toEqual({ values, losses: [], changes: [] });
  });
});

describe('times', () => {
  const WRITTEN: Cases = [
    ['2026-01-31 10:00:00', '2026-01-31 10:00:00'],
    ['2026-01-31T10:00:00.123', '2026-01-31 10:00:00.123'],
    ['2026-01-31', '2026-01-31 00:00:00'],
    ['2026-01-31 10:05', '2026-01-31 10:05:00'],
    [' 2026-01-31 10:05 ', '2026-01-31 10:05:00'],
    ['2026-01-31 23:59:59.999999999', '2026-01-31 23:59:59.999'],
    ['2026-01-31T10:00:00Z', '2026-01-31 10:00:00'],
    ['2026-01-31T10:00:00.5Z', '2026-01-31 10:00:00.5'],
    ['2026-01-31T10:00:00.12Z', '2026-01-31 10:00:00.12'],
    ['2026-01-31 10:00:00.123+01', '2026-01-31 09:00:00.123'],
    ['2026-01-31T00:30:00+01:00', '2026-01-30 23:30:00'],
    ['2026-01-31T23:30:00.123456-0530', '2026-02-01 05:00:00.123'],
    ['2026-01-31 10:00:00 UTC', '2026-01-31 10:00:00'],
    ['1970-01-01 00:00:00', '1970-01-01 00:00:00'],
  ];

  it('in text columns may have an offset or none', () =>
    expectColumn({ column: 'event_time' }, WRITTEN, {
      changes: [
        '7 times without an offset were taken as UTC; if they are local times, say --time-zone, for example Europe/Berlin',
      ],
    }));

  it('in a form that is not known are refused with an error that names each fault and its correction', async () => {
    const texts = [
      ...['', 'NaT', '31.01.2026 12:00', '2026-02-30 12:00:00', 'yesterday', '1969-12-31', 'infinity'],
      ...['2026-01-31 12:00:00.+01', '2026-01-31 12:00:5Z', '2026-01-31T12:00:00+25:00'],
      '2026-01-31T12:00:00+01:99',
    ];
    const losses = [
      'in 2 records, "NaT" for example is missing. Fill it in at the source; nobody else can know it',
      'in 1 record, "1969-12-31" is before 1970 or after 9999. Correct it at the source',
      'in 8 records, "2026-01-31 12:00:00.+01" for example is no time like 2026-01-31 23:59:59.999, 2026-01-31T23:59:59Z or 2026-01-31T23:59:59+01:00. Write it so at the source',
    ];
    const lost = texts.map((text): Cases[number] => [text, null]);
    const changes = [expect.stringMatching(/^1 time without an offset was taken as UTC;/)];
    await expectColumn({ column: 'event_time' }, lost, { losses, changes });
  });

  const TYPES: readonly [type: string, written: string, becomes: string, changes: number][] = [
    ['TIMESTAMP', '2026-01-31 23:59:59.999999', '2026-01-31 23:59:59.999', 1],
    ['TIMESTAMP_MS', '2026-01-31 23:59:59.999', '2026-01-31 23:59:59.999', 1],
    ['TIMESTAMP_NS', '2026-01-31 23:59:59.999999999', '2026-01-31 23:59:59.999', 1],
    ['DATE', '2026-01-31', '2026-01-31 00:00:00', 1],
    ['TIMESTAMP WITH TIME ZONE', '2026-01-31 23:59:59.999999+01', '2026-01-31 22:59:59.999', 0],
  ];
  it.each(TYPES)('of type %s are cut, not rounded, to the millisecond', (type, written, becomes, changed) => {
    const taken = expect.stringMatching(/^1 time without an offset was taken as UTC;/);
    const changes = changed ? [taken] : [];
    return expectColumn({ column: 'event_time', type }, [[written, becomes]], { changes });
  });
});

describe('--time-zone', () => {
  const berlin = { column: 'event_time', timeZone: 'Europe/Berlin' };

  it('applies only to times without an offset', () => {
    const cases: Cases = [
      ['2026-01-31 00:30:00', '2026-01-30 23:30:00'],
      ['2026-07-01 00:30:00.123', '2026-06-30 22:30:00.123'],
      ['2026-07-01', '2026-06-30 22:00:00'],
      ['2026-07-01T00:30:00Z', '2026-07-01 00:30:00'],
      ['2026-03-29 01:59:59.999', '2026-03-29 00:59:59.999'],
      ['2026-03-29 03:00:00', '2026-03-29 01:00:00'],
      ['2026-10-25 01:59:59.999', '2026-10-24 23:59:59.999'],
      ['2026-10-25 03:00:00', '2026-10-25 02:00:00'],
    ];
    const changes = ['7 times without an offset were taken as local time of Europe/Berlin'];
    return expectColumn(berlin, cases, { changes });
  });

  it('does not apply to INT96 times, which Spark writes in UTC', () => {
    const spark = { ...berlin, type: 'TIMESTAMP', declared: 'INT96' };
    return expectColumn(spark, [['2026-03-29 02:30:00', '2026-03-29 02:30:00']]);
  });

  const FORWARD = ['2026-03-29 02:59:59.999', '2026-03-29 02:00:00'];
  const CHANGED = [...FORWARD, '2026-10-25 02:00:00', '2026-10-25 02:59:59.999'];
  const GAP =
    'in 2 records, "2026-03-29 02:00:00" for example does not exist in Europe/Berlin, where clocks went forward from 2026-03-29 02:00:00 to 2026-03-29 03:00:00. Correct it at the source, or say another --time-zone';

  it('refuses local times that do not exist or occur twice, and names the change of clocks', async () => {
    const { values, losses } = await convertColumn(berlin, CHANGED);
    expect(values).toEqual([null, null, null, null]);
    expect(losses).toEqual([
      GAP,
      'in 2 records, "2026-10-25 02:00:00" for example comes twice in Europe/Berlin, where clocks went back from 2026-10-25 03:00:00 to 2026-10-25 02:00:00. Write the offset at the source, or say which is meant: --ambiguous earlier or --ambiguous later',
    ]);
  });

  it.each([
    ['earlier', '2026-10-25 00:00:00', '2026-10-25 00:59:59.999'],
    ['later', '2026-10-25 01:00:00', '2026-10-25 01:59:59.999'],
  ] as const)('uses the %s of two instants if --ambiguous says so', async (ambiguous, first, last) => {
    const { values, losses, changes } = await convertColumn({ ...berlin, ambiguous }, CHANGED);
    expect(values).toEqual([null, null, first, last]);
    expect(losses).toEqual([GAP]);
    expect(changes[1]).toBe(
      `2 times in the hour that comes twice in Europe/Berlin were taken as the ${ambiguous}`,
    );
  });

  it.each([
    ['a date whose midnight does not exist', 'DATE', 'Africa/Cairo', '2026-04-24'],
    ['a day that Samoa skipped', 'TIMESTAMP', 'Pacific/Apia', '2011-12-30 12:00:00'],
  ])('refuses %s', async (_, type, timeZone, written) => {
    const { losses } = await convertColumn({ column: 'event_time', type, timeZone }, [written]);
    const says = `in 1 record, "${written}" does not exist in ${timeZone}, where clocks went`;
    expect(losses).toEqual([expect.stringContaining(says)]);
  });

  it.each([
    ['is half an hour off', 'Australia/Lord_Howe', '2026-07-01 00:30:00', '2026-06-30 14:00:00'],
    ['changes its clocks for a month', 'Africa/Casablanca', '2012-08-01 12:00:00', '2012-08-01 12:00:00'],
  ])('knows a zone that %s', async (_, timeZone, written, becomes) => {
    const { values } = await convertColumn({ column: 'event_time', timeZone }, [written]);
    expect(values).toEqual([becomes]);
  });
});

describe('numbers in a column of times', () => {
  const JUDGED: readonly [unit: string, type: string, ...cases: Cases][] = [
    [
      ...(['seconds', 'VARCHAR'] as const),
      ['946684800', '2000-01-01 00:00:00'],
      ['1769860800.123', '2026-01-31 12:00:00.123'],
      ['1769860800.9999', '2026-01-31 12:00:00.999'],
      ['1.7698608e9', '2026-01-31 12:00:00'],
      ['1999999999', '2033-05-18 03:33:19'],
    ],
    ['seconds', 'DOUBLE', ['1769860800.123', '2026-01-31 12:00:00.123']],
    ['milliseconds', 'BIGINT', ['1769860800123', '2026-01-31 12:00:00.123']],
    ['milliseconds', 'VARCHAR', ['1769860800123.0', '2026-01-31 12:00:00.123']],
    ['nanoseconds', 'DOUBLE', ['1769860800123000000', '2026-01-31 12:00:00.123']],
    ['microseconds', 'BIGINT', ['1769860800123456', '2026-01-31 12:00:00.123']],
    ['nanoseconds', 'BIGINT', ['1769860800123999999', '2026-01-31 12:00:00.123']],
    ['nanoseconds', 'DECIMAL(20,0)', ['1769860800123456789', '2026-01-31 12:00:00.123']],
  ];
  it.each(JUDGED)('are read as %s in a column of type %s because of their size', (unit, type, ...cases) => {
    const [first, last] = [cases[0]?.[1], cases.at(-1)?.[1]];
    const many = cases.length === 1 ? '1 number was' : `${cases.length} numbers were`;
    const range = cases.length === 1 ? first : `${first} to ${last}`;
    const how = `${unit} since 1970 (if they count something else, say --time-unit): ${range}`;
    return expectColumn({ column: 'event_time', type }, cases, { changes: [`${many} read as ${how}`] });
  });

  it('are refused if some fit one unit and others fit another', async () => {
    const texts = ['1769860800', '1769860801', '1769860800123'];
    const { losses, changes } = await convertColumn({ column: 'event_time', type: 'BIGINT' }, texts);
    expect(losses).toEqual([
      'its numbers seem to count different units since 1970: 2 fit seconds, 1 fits milliseconds. If all count the same, say which: --time-unit; else write them in one unit at the source',
    ]);
    expect(changes).toEqual([]);
  });

  it('are refused if they fit no unit, for example days and hours written in digits', async () => {
    const { losses } = await convertColumn({ column: 'event_time' }, ['20260131', '2026013112', '-5']);
    expect(losses).toEqual([
      'in 3 records, "-5" for example is not between 2000 and May 2033, whether it counts seconds, milliseconds, microseconds or nanoseconds since 1970. Say what it counts: --time-unit seconds|milliseconds|microseconds|nanoseconds; or write times like 2026-01-31T23:59:59Z',
    ]);
  });

  it('are refused in a column with written times, unless --time-unit says what they count', async () => {
    const texts = ['2026-01-31T12:00:00Z', '1769860800'];
    const { losses } = await convertColumn({ column: 'event_time' }, texts);
    expect(losses).toEqual([
      '1 number stands among 1 written time. Say what the numbers count: --time-unit; or write all as times at the source',
    ]);
    const told = await convertColumn({ column: 'event_time', timeUnit: 'seconds' }, texts);
    expect(told).toEqual({
      values: ['2026-01-31 12:00:00', '2026-01-31 12:00:00'],
      losses: [],
      changes: ['1 number was read as seconds since 1970: 2026-01-31 12:00:00'],
    });
  });

  it('are read in the unit of --time-unit, from 1970 to 9999', async () => {
    const { values, losses } = await convertColumn(
      { column: 'event_time', type: 'DECIMAL(38,0)', timeUnit: 'milliseconds' },
      ['0', '1769860800', '253402300799999', '253402300800000', '-1', '100000000000000000000000'],
    );
    const first = ['1970-01-01 00:00:00', '1970-01-21 11:37:40.8', '9999-12-31 23:59:59.999'];
    expect(values).toEqual([...first, null, null, null]);
    expect(losses).toEqual([
      'in 3 records, "-1" for example is not between 1970 and 9999 if it counts milliseconds. Give another --time-unit, or correct it at the source',
    ]);
  });

  it('are refused if they are single floats, or if some are missing', async () => {
    const single = await convertColumn({ column: 'event_time', type: 'FLOAT' }, ['1769860800']);
    const says = 'event_time is FLOAT, of which no timestamp can be made. A single float is minutes away';
    expect(single.losses).toEqual([expect.stringContaining(says)]);
    const given = { column: 'event_time', type: 'DOUBLE' };
    const { losses } = await convertColumn(given, ['1769860800', 'NaN', null]);
    expect(losses).toEqual([
      expect.stringContaining('in 2 records, "nan" for example is missing. Fill it in'),
    ]);
  });
});

describe('changes of several files', () => {
  it('are reported in one line for each column and kind of change', async () => {
    const rounded = { says: ['amount', '', 'rounded'], column: 'spend' } as const;
    const read = { says: ['time', '', 'read'], column: 'event_time' } as const;
    expect(
      tellChanges([
        { ...rounded, count: 1, added: 5n * 10n ** 17n, most: 5n * 10n ** 17n },
        { ...read, count: 1, range: ['2026-01-31 00:00:00', '2026-01-31 00:00:00'] },
        { ...rounded, count: 1_000, added: -(10n ** 18n), most: 4n * 10n ** 17n },
        { ...read, count: 2, range: ['2026-01-30 00:00:00', '2026-01-30 12:00:00'] },
        { ...rounded, column: 'revenue', count: 1, added: -(10n ** 17n), most: 10n ** 17n },
      ]),
    ).toEqual([
      'spend: 1,001 amounts were rounded (in 2 files), each by at most 0.0000005; that adds -0.0000005 to the sum',
      'event_time: 3 times were read (in 2 files): 2026-01-30 00:00:00 to 2026-01-31 00:00:00',
      'revenue: 1 amount was rounded, by 0.0000001; that adds -0.0000001 to the sum',
    ]);
  });
});

describe('the options about values', () => {
  const NO_ZONE =
    /^--time-zone is "Berlin", which is no zone\. It can be a name of the IANA list, for example Europe\/Berlin/;
  const NO_UNIT = /^--time-unit is "days"; it can be seconds, milliseconds, microseconds, nanoseconds$/;
  const berlin = { 'time-zone': 'Europe/Berlin' };
  it.each([
    [{ 'time-zone': 'Berlin' }, NO_ZONE],
    [{ 'time-unit': 'days' }, NO_UNIT],
    [{ ...berlin, ambiguous: 'both' }, /^--ambiguous is "both"; it can be earlier, later$/],
    [{ ambiguous: 'later' }, /^--ambiguous decides about local times: say --time-zone too$/],
  ])('are refused with an error that says what is allowed: %j', (written, says) => {
    expect(() => valueOptions(written)).toThrow(says);
  });
});

describe('npm run lake -- convert', () => {
  it('accepts the options about values, and says at the end what it changed in all files', async () => {
    const { directory } = workspace;
    const rows = ['2026-01-30 23:30:00,0.0000004', '2026-01-31 00:30:00,1e-7', '2026-10-25 02:30:00,1'];
    for (const [index, row] of rows.entries())
      await writeFile(join(directory, `${index}.csv`), `event_time,revenue,served_ads\n${row},1\n`);
    const options = ['--time-zone', 'Europe/Berlin', '--ambiguous', 'later', '--round'];
    const inputs = rows.map((_, index) => join(directory, `${index}.csv`));
    const to = join(directory, 'lake');
    const { code, stdout, stderr } = await runLake(['convert', ...inputs, '--to', to, ...options]);
    const days = await readdir(join(to, 'publisher_events'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const line of [
      'event_time: 3 times without an offset were taken as local time of Europe/Berlin (in 3 files)',
      'event_time: 1 time in the hour that comes twice in Europe/Berlin was taken as the later',
      'revenue: 2 amounts were rounded to six digits after the point (in 2 files), each by at most 0.0000004; that adds -0.0000005 to the sum',
    ])
      expect(stdout).toContain(`${line}\n`);
    expect(days.sort()).toEqual(['day=2026-01-30', 'day=2026-10-25']);
  });
});
