import { defineConfig } from 'vitest/config';

/** What runs on Trino as on DuckDB, one file after another: the server takes both cores. */
export default defineConfig({
  test: {
    include: ['test/trino/**/*.test.ts', 'test/e2e/reports.test.ts', 'test/e2e/entitlements.test.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
