import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** The growth in memory, in bytes, of a process that does nothing but re-type a file of this size. */
async function growthOver(bytes: number): Promise<number> {
  const alone = [join(import.meta.dirname, 'retyping-alone.ts'), String(bytes)];
  return Number((await promisify(execFile)(process.execPath, alone)).stdout);
}

it('re-typing 4 GB takes less than 10 MB more memory than re-typing 10 MB', async () => {
  const small = await growthOver(10_000_000);
  expect(small).toBeGreaterThan(0);
  expect((await growthOver(4_000_000_000)) - small).toBeLessThan(10_000_000);
});
