import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { localOnly } from './deployed/local-only.ts';

describe('the end-to-end cases that npm run test:deployed leaves out', () => {
  it('exist, and each has a reason', async () => {
    const sources: string[] = [];
    for await (const file of glob('test/e2e/*.test.ts')) sources.push(readFileSync(file, 'utf8'));
    for (const [test, reason] of Object.entries(localOnly)) {
      const [suite = '', name = ''] = test.split(' > ');
      const [words = ''] = name.split(' at /');
      expect(
        sources.some((source) => source.includes(`'${suite}'`) && source.includes(`'${words}`)),
        test,
      ).toBe(true);
      expect(reason).toMatch(/\.$/);
    }
  });
});
