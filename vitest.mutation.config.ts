import { defineConfig } from 'vitest/config';

/** What runs against mutants: the tests of lib/, in the process that holds the mutant. */
export default defineConfig({
  test: {
    include: ['test/lib/**/*.test.ts'],
    maxWorkers: 1,
    // A test takes milliseconds. Only a mutant that waits for ever reaches this, not a busy machine.
    testTimeout: 10_000,
  },
});
