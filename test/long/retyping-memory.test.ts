import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** By how many bytes a process grows that only re-types a file of this size. */
async function growthOver(bytes: number): Promise<number> {
  const alone = join(import.meta.dirname, '../../bench/retyping-alone.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [alone, String(bytes)]);
  return Number(stdout);
}

it('re-types 4 GB within 10 MB more than 10 MB take', async () => {
  const small = await growthOver(10_000_000);
  expect(small).toBeGreaterThan(0);
  expect((await growthOver(4_000_000_000)) - small).toBeLessThan(10_000_000);
});
