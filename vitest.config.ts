import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { localOnlyPattern } from './test/deployed/local-only.ts';

const MINUTE = 60_000;

/**
 * Only a test that hangs takes this long, even on a busy machine. Projects whose tests take longer set their own
 * limits.
 */
const limits = {
  testTimeout: 2 * MINUTE,
  hookTimeout: 2 * MINUTE,
  expect: { poll: { timeout: MINUTE } },
};

/** For projects whose child processes, browsers or servers use both cores. */
const oneByOne = { fileParallelism: false };

/**
 * For projects with many tests that only wait: one worker more than a small machine has cores. These projects form a
 * group that runs before the others, because vitest refuses different numbers of workers in one group.
 */
const manyWait = { maxWorkers: 3, sequence: { groupOrder: 0 } };

/** The projects. `vitest run --project <name>` runs one of them. */
const projects = {
  // All tests that need no more than the test's own process and small servers.
  unit: {
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/{pass,e2e,recipes,clients,connectors,sources,generators,trino,deployed,long}/**',
      'test/page/browser/**',
    ],
    ...manyWait,
  },
  // It runs the whole service once.
  pass: { include: ['test/pass/**/*.test.ts'], ...manyWait },
  e2e: { include: ['test/e2e/**/*.test.ts'] },
  // Each recipe is followed by all tests of `unit`.
  recipes: { include: ['test/recipes/**/*.test.ts'], ...oneByOne, testTimeout: 15 * MINUTE },
  page: {
    include: ['test/page/browser/**/*.test.ts'],
    ...oneByOne,
  },
  // The first run installs Python packages.
  clients: {
    include: ['test/clients/**/*.test.ts'],
    testTimeout: 5 * MINUTE,
    hookTimeout: 5 * MINUTE,
  },
  // The first run installs packages of Python and of npm.
  connectors: {
    include: ['test/connectors/**/*.test.ts'],
    ...oneByOne,
    testTimeout: 5 * MINUTE,
    hookTimeout: 5 * MINUTE,
  },
  // The first run installs two versions of pandas, and Spark.
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

/** Suites that run files of other suites in another setting. The environment variable SUITE chooses one of them. */
const settings = {
  trino: {
    include: ['test/trino/**/*.test.ts', 'test/e2e/reports.test.ts', 'test/e2e/entitlements.test.ts'],
    ...oneByOne,
    testTimeout: 5 * MINUTE,
  },
  // One file runs after another, because all files use the same buckets of the stage.
  deployed: {
    include: ['test/e2e/**/*.test.ts', 'test/deployed/**/*.test.ts'],
    ...oneByOne,
    testNamePattern: localOnlyPattern,
    testTimeout: 4 * MINUTE,
    hookTimeout: 4 * MINUTE,
  },
  // The unit tests of lib/, and the tests of S3's behaviour, which lib/aws relies on. One file runs after another. The
  // tests take milliseconds: only a mutant that never ends reaches the limit.
  mutation: {
    include: ['test/lib/**/*.test.ts', 'test/s3/**/*.test.ts'],
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
    // A test that starts servers and a query engine needs a whole core.
    maxWorkers: 2,
    globalSetup: 'test/ends-with-npm.ts',
    projects: chosen.map(
      ([name, test], index): TestProjectConfiguration => ({
        test: { name, ...limits, sequence: { groupOrder: index + 1 }, ...test },
      }),
    ),
  },
});
