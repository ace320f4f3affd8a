import { defineConfig } from 'vitest/config';

/** What runs against mutants: the tests of lib/, in the process that holds the mutant. */
export default defineConfig({
  test: {
    include: ['test/lib/**/*.test.ts'],
    // It takes half a minute: the quick tests of lib/csv must see by themselves what changes.
    exclude: ['test/lib/csv/random-results.test.ts'],
    maxWorkers: 1,
    // A test takes milliseconds. Only a mutant that waits for ever reaches this, not a busy machine.
    testTimeout: 10_000,
  },
});
