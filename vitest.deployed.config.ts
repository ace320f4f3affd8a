import { defineConfig } from 'vitest/config';
import { localOnlyPattern } from './test/deployed/local-only.ts';

/** The end-to-end suites against a deployed stage: one file after another, since all share its buckets. */
export default defineConfig({
  test: {
    include: ['test/e2e/**/*.test.ts', 'test/deployed/**/*.test.ts'],
    fileParallelism: false,
    testNamePattern: localOnlyPattern,
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
