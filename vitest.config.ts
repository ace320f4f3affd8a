import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // These have commands of their own: test:long, test:clients, test:generators, test:trino, test:deployed, test:page.
    exclude: [
      'test/{long,clients,generators,trino,deployed}/**',
      'test/page/browser/**',
      '**/node_modules/**',
    ],
    // The end-to-end tests start real servers and a query engine; two cores carry two of them at a time.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
