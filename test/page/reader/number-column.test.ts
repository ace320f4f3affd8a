import { describe, expect, it } from 'vitest';
import { NumberColumn, sumOver } from '../../../page/src/reader/number-column.ts';
import { BrokenCsv } from '../../../page/src/reader/read-csv.ts';
import { micros } from '../../e2e/expected-report.ts';

const column = (places: number, cells: readonly (string | null)[]) => {
  const made = new NumberColumn(places);
  for (const cell of cells) made.push(cell);
  return made;
};

describe('NumberColumn', () => {
  // Integers of 15 and 16 digits, and of 64 bits; a JavaScript number holds not all of them.
  const integers = [
    ...['42', '0', '-17', '007', '999999999999999', '9007199254740991', '9007199254740993'],
    ...['9223372036854775807'],
  ].map((text) => ({ places: 0, text, exact: BigInt(text) }));
  const amounts = [
    ...['1234567.891011', '0.000001', '-0.000001', '999999999.999999', '12345678901234.000001'],
    ...['-12345678901234.000001', '-0.000000', '2.5', '12345678'],
  ].map((text) => ({ places: 6, text, exact: micros(text) }));
  it.each([...integers, ...amounts])('keeps $text as it is in the file', ({ places, text, exact }) => {
    const made = column(places, [null, text]);
    expect([made.cell(0), made.cell(1)]).toEqual([null, text]);
    expect([made.exact(0), made.exact(1)]).toEqual([undefined, exact]);
    expect([made.near(0), made.near(1)]).toEqual([Number.NaN, Number(exact)]);
  });

  it('keeps more values than one block holds', () => {
    const made = new NumberColumn(0);
    for (let row = 0; row < 200_000; row++) made.push(row === 65_536 ? '9007199254740993' : String(row));
    const cells = [0, 65_535, 65_536, 65_537, 199_999].map((row) => made.cell(row));
    expect(cells).toEqual(['0', '65535', '9007199254740993', '65537', '199999']);
  });

  it.each([
    ...['x', '', '-', '1.5', '1e5'].map((text) => [0, text] as const),
    ...['1.2345678', '.500000', '1-2.000000', '12345678x000001'].map((text) => [6, text] as const),
  ])('with %i places, refuses %j', (places, text) => {
    expect(() => column(places, [text])).toThrow(BrokenCsv);
  });
});

describe('sumOver', () => {
  it.each<[string, number, string[], bigint]>([
    ['no values', 0, [], 0n],
    ['very large integers', 0, ['9007199254740993', '9223372036854775807', '1'], 9232379236109516801n],
    ['many integers of a large sum', 0, Array(5_000).fill('999999999999999'), 4999999999999995000n],
    ['many negative integers', 0, Array(5_000).fill('-999999999999999'), -4999999999999995000n],
    ['amounts that binary fractions can’t express', 6, Array(10).fill('0.100000'), 1000000n],
    ['negative amounts', 6, ['-0.000001', '-12.500000', '0.000002'], -12499999n],
    ['more than 2^53 millionths', 6, ['12345678901234.000001', '0.000001'], 12345678901234000002n],
  ])('adds up %s', (_, places, texts, expected) => {
    expect(sumOver(Uint32Array.from(texts.keys()), column(places, texts))).toBe(expected);
  });

  it('adds up only the given rows, and counts a row without a value as zero', () => {
    const cells = column(0, ['1', '2', null, '4', '9007199254740993']);
    expect(sumOver(Uint32Array.from([3, 1, 2]), cells)).toBe(6n);
  });
});
