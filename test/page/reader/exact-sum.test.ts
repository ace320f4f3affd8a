import { describe, expect, it } from 'vitest';
import { sumOver } from '../../../page/src/reader/exact-sum.ts';
import { NumberColumn } from '../../../page/src/reader/number-column.ts';

function sum(places: number, cells: readonly (string | null)[], rows = cells.map((_, row) => row)): bigint {
  const column = new NumberColumn(places);
  for (const cell of cells) column.push(cell);
  return sumOver(Uint32Array.from(rows), column);
}

describe('sumOver', () => {
  it.each<[string, string[], bigint]>([
    ['nothing', [], 0n],
    ['what a number can’t hold', ['9007199254740993', '9223372036854775807', '1'], 9232379236109516801n],
    ['many that only together are too large', Array(5_000).fill('999999999999999'), 4999999999999995000n],
    ['many below zero', Array(5_000).fill('-999999999999999'), -4999999999999995000n],
    ['what is below zero', ['-3', '1'], -2n],
  ])('adds up %s', (_, texts, expected) => {
    expect(sum(0, texts)).toBe(expected);
  });

  it.each<[string, string[], bigint]>([
    ['what binary numbers can’t say', Array(10).fill('0.100000'), 1000000n],
    ['the largest amounts', ['999999999999.999999', '0.000001'], 1000000000000000000n],
    ['a debt', ['-0.000001', '-12.500000'], -12500001n],
    ['beyond 2^53', ['12345678901234.000001', '0.000001'], 12345678901234000002n],
  ])('adds up amounts: %s', (_, texts, expected) => {
    expect(sum(6, texts)).toBe(expected);
  });

  it('adds up only the rows that are asked for, and leaves out what is not known', () => {
    expect(sum(0, ['1', '2', null, '4', '9007199254740993'], [3, 1, 2])).toBe(6n);
  });
});
