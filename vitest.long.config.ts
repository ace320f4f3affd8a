import { defineConfig } from 'vitest/config';

/** The suites that take minutes or gigabytes, one after another. */
export default defineConfig({
  test: {
    include: ['test/long/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});
