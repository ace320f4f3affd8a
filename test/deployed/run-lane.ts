/**
 * `npm run test:deployed`: deploys stages to AWS emulators as an operator does, runs the end-to-end suites against the
 * stages, upgrades them and destroys them. The emulator is downloaded once.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LaneFault, NoTools, tell } from '../lane-fault.ts';
import { installTools } from './install-tools.ts';
import { type Case, runSuites, type Suite } from './run-suites.ts';
import { startIssuer } from './start-issuer.ts';

/**
 * Each list runs on its own emulator. The lists run at the same time, because each waits most of the time. In stage
 * `pool` the caller's record says whose rows the caller sees, in stage `claims` the token says it.
 */
const SUITES: readonly (readonly Suite[])[] = [
  [
    {
      stage: 'claims',
      files: ['test/e2e/answers.test.ts', 'test/e2e/entitlements.test.ts'],
    },
    {
      stage: 'pool',
      files: ['test/e2e/reports.test.ts', 'test/e2e/delivery.test.ts', 'test/deployed/operating.test.ts'],
    },
    // This file deploys its own stage.
    { stage: 'pool', files: ['test/deployed/first-deployment.test.ts'] },
  ],
  [
    { stage: 'pool', files: ['test/deployed/s3.test.ts'] },
    { stage: 'pool', files: ['test/deployed/permission-parts.test.ts'] },
    // This file deploys releases to its own stage.
    { stage: 'pool', files: ['test/deployed/rollback.test.ts'] },
  ],
  [
    { stage: 'pool', files: ['test/deployed/permissions.test.ts'] },
    { stage: 'pool', files: ['test/deployed/runbook.test.ts'] },
    // This file is the last one, because it destroys the stage.
    { stage: 'pool', files: ['test/deployed/life.test.ts'] },
  ],
];

/** The test files that the command line names; if it names none, all files run. */
const given = process.argv.slice(2);
const chosen = SUITES.map((suites) =>
  suites
    .map(({ stage, files }) => ({
      stage,
      files: files.filter((file) => given.length === 0 || given.includes(file)),
    }))
    .filter(({ files }) => files.length > 0),
).filter((suites) => suites.length > 0);

const stop = new AbortController();

const began = Date.now();
const say = (text: string) =>
  process.stdout.write(`[${((Date.now() - began) / 1_000).toFixed(0).padStart(4)} s] ${text}\n`);

try {
  if (process.platform !== 'linux')
    throw new NoTools('The lane needs Linux: it ends functions by what /proc tells of their processes.');
  if (chosen.length === 0) throw new LaneFault(`The lane has no suite ${given.join(' ')}.`);
  const commands = await installTools();
  // Signals are handled only from here on. Until here, a signal that ends an installer must end this process too.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  await using resources = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'performance-reports-deployed-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const issuer = resources.use(await startIssuer());
  const cases: Case[] = [];
  const surroundings = { commands, directory, issuer, cases, stop: stop.signal, say };
  const ended = await Promise.allSettled(chosen.map((suites) => runSuites(suites, surroundings)));
  for (const { reason } of ended.filter((end) => end.status === 'rejected')) throw reason;
  const [passed = [], failed = []] = ['passed', 'failed'].map((is) =>
    cases.filter(({ status }) => status === is),
  );
  const rights = passed.filter(({ title }) => title.includes(' does not work without ')).length;
  say(
    `${passed.length} cases passed; ${rights} of them showed that a role needs a statement or a part of one. ` +
      `${failed.length} failed, ${cases.length - passed.length - failed.length} were left out ` +
      '(test/deployed/local-only.ts, test/deployed/s3.test.ts).',
  );
} catch (error) {
  tell(stop.signal.aborted ? new LaneFault('The lane was stopped.') : error);
}
