import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { localOnlyPattern } from './test/deployed/local-only.ts';

const MINUTE = 60_000;

/** Only a test that hangs takes so long, on a busy machine too; what takes longer by itself says so. */
const limits = {
  testTimeout: 2 * MINUTE,
  hookTimeout: 2 * MINUTE,
  expect: { poll: { timeout: MINUTE } },
};

/** Children, browsers and servers of these take both cores. */
const oneByOne = { fileParallelism: false };

/**
 * One more than the cores of a small machine: some of these tests only wait. Such projects run together, before the
 * others: vitest refuses one group of projects with different numbers of workers.
 */
const manyWait = { maxWorkers: 3, sequence: { groupOrder: 0 } };

/** `vitest run --project <name>`. */
const projects = {
  // Everything that runs in the test's own process, and small servers.
  unit: {
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/{pass,e2e,recipes,clients,connectors,sources,generators,trino,deployed,long}/**',
      'test/page/browser/**',
    ],
    ...manyWait,
  },
  // The whole service, once.
  pass: { include: ['test/pass/**/*.test.ts'], ...manyWait },
  e2e: { include: ['test/e2e/**/*.test.ts'] },
  recipes: { include: ['test/recipes/**/*.test.ts'], ...oneByOne, testTimeout: 5 * MINUTE },
  page: {
    include: ['test/page/browser/**/*.test.ts'],
    ...oneByOne,
  },
  // The first run installs Python packages, which both suites use.
  clients: {
    include: ['test/clients/**/*.test.ts'],
    testTimeout: 5 * MINUTE,
    hookTimeout: 5 * MINUTE,
  },
  // The first run installs Python packages.
  connectors: {
    include: ['test/connectors/**/*.test.ts'],
    ...oneByOne,
    testTimeout: 5 * MINUTE,
    hookTimeout: 5 * MINUTE,
  },
  // The first run installs pandas, twice, and Spark.
  sources: {
    include: ['test/sources/**/*.test.ts'],
    ...oneByOne,
    testTimeout: 5 * MINUTE,
    hookTimeout: 10 * MINUTE,
  },
  generators: {
    include: ['test/generators/**/*.test.ts'],
    testTimeout: 5 * MINUTE,
  },
  long: {
    include: ['test/long/**/*.test.ts'],
    ...oneByOne,
    testTimeout: 10 * MINUTE,
  },
};

/** Suites that run files of other suites, in another setting. The variable SUITE chooses one. */
const settings = {
  trino: {
    include: ['test/trino/**/*.test.ts', 'test/e2e/reports.test.ts', 'test/e2e/entitlements.test.ts'],
    ...oneByOne,
    testTimeout: 5 * MINUTE,
  },
  // One file after another, since all share the stage's buckets.
  deployed: {
    include: ['test/e2e/**/*.test.ts', 'test/deployed/**/*.test.ts'],
    ...oneByOne,
    testNamePattern: localOnlyPattern,
    testTimeout: 4 * MINUTE,
    hookTimeout: 4 * MINUTE,
  },
  // The unit tests of lib/, one file after another, and of S3's behaviour, which lib/aws relies on. They take milliseconds:
  // only a mutant that never ends reaches the limit.
  mutation: {
    include: ['test/lib/**/*.test.ts', 'test/s3/**/*.test.ts'],
    // It takes half a minute: the quick tests of lib/csv must see by themselves what changes.
    exclude: ['test/lib/csv/random-results.test.ts'],
    maxWorkers: 1,
    testTimeout: MINUTE,
  },
};

const suite = process.env['SUITE'];
const chosen = Object.entries<object>(suite ? settings : projects).filter(
  ([name]) => !suite || name === suite,
);
if (chosen.length === 0)
  throw new Error(`SUITE is "${suite}"; there are ${Object.keys(settings).join(', ')}`);

export default defineConfig({
  test: {
    // What starts servers and a query engine takes a core.
    maxWorkers: 2,
    globalSetup: 'test/ends-with-npm.ts',
    projects: chosen.map(
      ([name, test], index): TestProjectConfiguration => ({
        test: { name, ...limits, sequence: { groupOrder: index + 1 }, ...test },
      }),
    ),
  },
});
