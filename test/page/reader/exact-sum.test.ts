import { describe, expect, it } from 'vitest';
import { NumberColumn, sumOver } from '../../../page/src/reader/number-column.ts';

function sum(places: number, cells: readonly (string | null)[], rows = cells.map((_, row) => row)): bigint {
  const column = new NumberColumn(places);
  for (const cell of cells) column.push(cell);
  return sumOver(Uint32Array.from(rows), column);
}

describe('sumOver', () => {
  it.each<[string, string[], bigint]>([
    ['no values', [], 0n],
    [
      'integers that a JavaScript number can’t hold',
      ['9007199254740993', '9223372036854775807', '1'],
      9232379236109516801n,
    ],
    [
      'many integers whose sum a JavaScript number can’t hold',
      Array(5_000).fill('999999999999999'),
      4999999999999995000n,
    ],
    ['many negative integers', Array(5_000).fill('-999999999999999'), -4999999999999995000n],
    ['a negative and a positive integer', ['-3', '1'], -2n],
  ])('adds up %s', (_, texts, expected) => {
    expect(sum(0, texts)).toBe(expected);
  });

  it.each<[string, string[], bigint]>([
    ['decimals that binary fractions can’t express', Array(10).fill('0.100000'), 1000000n],
    ['the largest amounts', ['999999999999.999999', '0.000001'], 1000000000000000000n],
    ['negative amounts', ['-0.000001', '-12.500000'], -12500001n],
    ['more than 2^53 millionths', ['12345678901234.000001', '0.000001'], 12345678901234000002n],
  ])('adds up amounts: %s', (_, texts, expected) => {
    expect(sum(6, texts)).toBe(expected);
  });

  it('adds up only the given rows, and counts a row without a value as zero', () => {
    expect(sum(0, ['1', '2', null, '4', '9007199254740993'], [3, 1, 2])).toBe(6n);
  });
});
