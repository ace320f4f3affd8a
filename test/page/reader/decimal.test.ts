import { describe, expect, it } from 'vitest';
import { decimalText, quotientText, scaled } from '../../../page/src/reader/decimal.ts';

describe('scaled', () => {
  it.each<[string, number, bigint]>([
    ['0', 0, 0n],
    ['9007199254740993', 0, 9007199254740993n],
    ['-3', 0, -3n],
    ['12345678901234.000001', 6, 12345678901234000001n],
    ['-0.000001', 6, -1n],
    ['2.5', 6, 2500000n],
    ['7', 6, 7000000n],
  ])('reads %s with %i places', (text, places, expected) => {
    expect(scaled(text, places)).toBe(expected);
  });
});

describe('decimalText', () => {
  it.each<[number | bigint, number, string]>([
    [0, 6, '0.000000'],
    [1, 6, '0.000001'],
    [-1, 6, '-0.000001'],
    [-12500001, 6, '-12.500001'],
    [12345678901234000001n, 6, '12345678901234.000001'],
    [-50, 2, '-0.50'],
    [9007199254740993n, 0, '9007199254740993'],
  ])('writes %s with %i places', (value, places, expected) => {
    expect(decimalText(value, places)).toBe(expected);
  });
});

describe('quotientText', () => {
  it.each<[bigint, bigint, number, string | null]>([
    [1n, 3n, 6, '0.333333'],
    [2n, 3n, 6, '0.666667'],
    [-2n, 3n, 6, '-0.666667'],
    [2n, -3n, 6, '-0.666667'],
    [-2n, -3n, 6, '0.666667'],
    // A half is rounded away from zero.
    [1n, 8n, 2, '0.13'],
    [-1n, 8n, 2, '-0.13'],
    [-1n, 1000n, 2, '0.00'],
    [0n, 5n, 2, '0.00'],
    [9007199254740993n, 1n, 2, '9007199254740993.00'],
    [1n, 0n, 6, null],
    [0n, 0n, 6, null],
  ])('divides %s by %s to %i places', (dividend, divisor, places, expected) => {
    expect(quotientText(dividend, divisor, places)).toBe(expected);
  });
});
