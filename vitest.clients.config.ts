import { defineConfig } from 'vitest/config';

/** The programs of docs/clients.md, run by the runtimes of this machine. */
export default defineConfig({
  test: {
    include: ['test/clients/**/*.test.ts'],
    // Both suites use the Python that the first one makes.
    fileParallelism: false,
    testTimeout: 60_000,
    // The first run installs the Python packages.
    hookTimeout: 300_000,
  },
});
