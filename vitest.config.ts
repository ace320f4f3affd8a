import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { localOnlyPattern } from './test/deployed/local-only.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Children, browsers and servers of these take both cores. */
const oneByOne = { fileParallelism: false };

/** `vitest run --project <name>`. Their limits are for hangs: three times what a busy machine takes. */
const projects = {
  // Everything that runs in the test's own process, and small servers.
  unit: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/{pass,e2e,recipes,clients,generators,trino,deployed,long}/**', 'test/page/browser/**'],
    testTimeout: 30 * SECOND,
    hookTimeout: MINUTE,
  },
  // The whole service, once.
  pass: { include: ['test/pass/**/*.test.ts'], testTimeout: 30 * SECOND, hookTimeout: MINUTE },
  e2e: { include: ['test/e2e/**/*.test.ts'], testTimeout: 30 * SECOND, hookTimeout: MINUTE },
  recipes: { include: ['test/recipes/**/*.test.ts'], ...oneByOne, testTimeout: 5 * MINUTE },
  page: {
    include: ['test/page/browser/**/*.test.ts'],
    ...oneByOne,
    testTimeout: MINUTE,
    hookTimeout: MINUTE,
  },
  // The first run installs Python packages, which both suites use.
  clients: {
    include: ['test/clients/**/*.test.ts'],
    ...oneByOne,
    testTimeout: MINUTE,
    hookTimeout: 5 * MINUTE,
  },
  generators: {
    include: ['test/generators/**/*.test.ts'],
    testTimeout: 5 * MINUTE,
    hookTimeout: MINUTE,
  },
  long: {
    include: ['test/long/**/*.test.ts'],
    ...oneByOne,
    testTimeout: 10 * MINUTE,
    hookTimeout: MINUTE,
  },
};

/** What runs files of others in another setting; chosen by SUITE alone. */
const settings = {
  trino: {
    include: ['test/trino/**/*.test.ts', 'test/e2e/reports.test.ts', 'test/e2e/entitlements.test.ts'],
    ...oneByOne,
    testTimeout: 5 * MINUTE,
    hookTimeout: MINUTE,
  },
  // One file after another, since all share the stage's buckets.
  deployed: {
    include: ['test/e2e/**/*.test.ts', 'test/deployed/**/*.test.ts'],
    ...oneByOne,
    testNamePattern: localOnlyPattern,
    testTimeout: 4 * MINUTE,
    hookTimeout: 4 * MINUTE,
  },
  // The tests of lib/, in the process that holds the mutant. A test takes milliseconds: only a mutant that waits for ever
  // reaches the limit, not a busy machine.
  mutation: {
    include: ['test/lib/**/*.test.ts'],
    // It takes half a minute: the quick tests of lib/csv must see by themselves what changes.
    exclude: ['test/lib/csv/random-results.test.ts'],
    maxWorkers: 1,
    testTimeout: 10 * SECOND,
  },
};

const suite = process.env['SUITE'];
const chosen: Readonly<Record<string, object>> = suite
  ? Object.fromEntries(Object.entries(settings).filter(([name]) => name === suite))
  : projects;

export default defineConfig({
  test: {
    // What starts servers and a query engine takes a core.
    maxWorkers: 2,
    globalSetup: 'test/ends-with-npm.ts',
    projects: Object.entries(chosen).map(
      ([name, test]): TestProjectConfiguration => ({ test: { name, ...test } }),
    ),
  },
});
