import { defineConfig } from 'vitest/config';

/** The recipes of CONTRIBUTING.md, each on a copy of the tree. */
export default defineConfig({
  test: {
    // Not named as the tests are, so that `npm test` leaves it out.
    include: ['test/recipes/recipes.suite.ts'],
    // Each of them runs suites that use both cores.
    fileParallelism: false,
    testTimeout: 300_000,
  },
});
