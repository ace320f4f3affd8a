import { defineConfig } from 'vitest/config';

/** The page in a real browser: needs Chromium. */
export default defineConfig({
  test: {
    include: ['test/page/browser/**/*.test.ts'],
    // One browser at a time: what it takes is measured.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
