import { describe, expect, it } from 'vitest';
import { ExactSum } from '../../page/src/exact-sum.ts';

const sum = (isDecimal: boolean, texts: readonly string[]) => {
  const exact = new ExactSum(isDecimal);
  for (const text of texts) exact.add(text);
  return String(exact);
};

describe('ExactSum', () => {
  it.each<[string, string[], string]>([
    ['nothing', [], '0'],
    ['what a number can’t hold', ['9007199254740993', '9223372036854775807', '1'], '9232379236109516801'],
    ['many that only together are too large', Array(5_000).fill('999999999999999'), '4999999999999995000'],
    ['what is below zero', ['-3', '1'], '-2'],
  ])('adds up %s', (_, texts, expected) => {
    expect(sum(false, texts)).toBe(expected);
  });

  it.each<[string, string[], string]>([
    ['nothing', [], '0.000000'],
    ['what binary numbers can’t say', Array(10).fill('0.100000'), '1.000000'],
    ['the largest amounts', ['999999999999.999999', '0.000001'], '1000000000000.000000'],
    ['a debt', ['-0.000001', '-12.500000'], '-12.500001'],
    ['amounts with fewer places', ['1', '2.5'], '3.500000'],
  ])('adds up amounts: %s', (_, texts, expected) => {
    expect(sum(true, texts)).toBe(expected);
  });
});
