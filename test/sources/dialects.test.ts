import { expect, it } from 'vitest';
import { differingDialects } from '../tools/csv-dialects.ts';

it('CSV files of ten thousand dialects are read unchanged, or refused', { timeout: 2_400_000 }, async () => {
  const { differing, read, refused } = await differingDialects(10_000, 1);
  expect(differing).toEqual([]);
  expect(Math.min(read, refused)).toBeGreaterThan(1_000);
});
