import { defineConfig } from 'vitest/config';

/** The generators of docs/generated-clients.md, by the runtimes of this machine; their tools are fetched once. */
export default defineConfig({
  test: {
    include: ['test/generators/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
