import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { localOnlyPattern } from './test/deployed/local-only.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Children, browsers and servers of these take both cores. */
const oneByOne = { fileParallelism: false };

/** `vitest run --project <name>`. Only a test that hangs reaches the time limits. */
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

/** Suites that run files of other suites, in another setting. The variable SUITE chooses one. */
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
    projects: chosen.map(([name, test]): TestProjectConfiguration => ({ test: { name, ...test } })),
  },
});
