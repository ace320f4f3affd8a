import { defineConfig } from 'vitest/config';

/** The recipes of CONTRIBUTING.md, each on a copy of the tree. */
export default defineConfig({
  test: {
    include: ['test/recipes/**/*.test.ts'],
    // Each of them runs suites that use both cores.
    fileParallelism: false,
    testTimeout: 300_000,
  },
});
