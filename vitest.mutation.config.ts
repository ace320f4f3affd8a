import { defineConfig } from 'vitest/config';

/** What runs against mutants: the tests of lib/, in the process that holds the mutant. */
export default defineConfig({
  test: { include: ['test/lib/**/*.test.ts'], maxWorkers: 1 },
});
