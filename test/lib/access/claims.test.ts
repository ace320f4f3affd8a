import { describe, expect, it } from 'vitest';
import { readEntitlement } from '../../../lib/access/claims.ts';

const rule = { claim: 'companies', prefix: undefined, everyCompany: '*' };
const roles = { claim: 'roles', prefix: 'publisher-company:', everyCompany: '*' };

describe('readEntitlement', () => {
  it.each<[unknown, string]>([
    [7, '7'],
    ['7', '7'],
    ['7 12  9', '7,9,12'],
    [[12, '7', 7], '7,12'],
    ['-3', '-3'],
    ['9223372036854775807', '9223372036854775807'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    ['*', 'every-company'],
    [['7', '*'], 'every-company'],
    ['007', '7'],
  ])('reads %j', (claim, expected) => {
    expect(String(readEntitlement({ companies: claim }, rule))).toBe(expected);
  });

  it.each<[string, unknown]>([
    ['missing', undefined],
    ['an empty text', ''],
    ['an empty list', []],
    ['a list with an empty text', ['']],
    ['an object', { id: 7 }],
    ['a fraction', 7.5],
    ['a number that JavaScript can’t hold exactly, among others', [7, 2 ** 53]],
    ['a number with an exponent', '1e3'],
    ['numbers separated by commas', '7,12'],
    ['a word among numbers', '7 all'],
    ['a null among numbers', [7, null]],
    ['a number that is too large for a signed 64-bit integer', '9223372036854775808'],
    ['SQL', '7) OR (1=1'],
    ['digits of another script', '٧'],
  ])('gives no access for a claim that is %s', (_, claim) => {
    expect(readEntitlement({ companies: claim }, rule)).toBeUndefined();
  });

  it('never gives access to every company if the stage sets no value that means every company', () => {
    for (const claim of ['*', 'undefined', 'null', ''])
      expect(readEntitlement({ companies: claim }, { ...rule, everyCompany: undefined })).toBeUndefined();
  });

  it('reads role names by their prefix and ignores other roles', () => {
    expect(
      readEntitlement({ roles: ['reader', 'publisher-company:9', 'publisher-company:7'] }, roles),
    ).toEqual([7n, 9n]);
    expect(readEntitlement({ roles: 'publisher-company:7 reader' }, roles)).toEqual([7n]);
    expect(readEntitlement({ roles: ['publisher-company:*'] }, roles)).toBe('every-company');
  });

  const others = ['reader', '*', '7', 'advertiser-company:7', 'publisher-company:', 'Publisher-Company:7'];
  it.each(
    [...others.map((role) => [role]), ['publisher-company:7', 'publisher-company:x']].map((claim) => ({
      claim,
    })),
  )('gives no access for the roles $claim', ({ claim }) => {
    expect(readEntitlement({ roles: claim }, roles)).toBeUndefined();
  });
});
