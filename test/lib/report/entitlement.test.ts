import { describe, expect, it } from 'vitest';
import { entitlementTo, storedEntitlement } from '../../../lib/report/entitlement.ts';

const LARGEST = 9_223_372_036_854_775_807n;

describe('entitlementTo', () => {
  it('gives each company once, in ascending order', () => {
    expect(entitlementTo([10n, 9n, LARGEST, 10n, -1n])).toEqual([-1n, 9n, 10n, LARGEST]);
  });

  it('is undefined if there is no company', () => {
    expect(entitlementTo([])).toBeUndefined();
  });
});

describe('storedEntitlement', () => {
  it('writes ids of 64 bits as exact texts', () => {
    expect(JSON.stringify(storedEntitlement([9n, LARGEST]))).toBe('["9","9223372036854775807"]');
  });

  it('writes access to every company as the word `every-company`', () => {
    expect(storedEntitlement('every-company')).toBe('every-company');
  });
});
