/**
 * `npm run test:deployed`: deploys two stages, as an operator does, to an AWS emulator that is fetched once, runs the
 * end-to-end suites against them, upgrades and destroys them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installTools } from './install-tools.ts';
import { laneEnvironment } from './lane.ts';
import { LaneFault } from './lane-fault.ts';
import { operator } from './operator.ts';
import { startEmulator } from './start-emulator.ts';
import { startIssuer } from './start-issuer.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());

const began = Date.now();
const say = (text: string) =>
  process.stdout.write(`[${((Date.now() - began) / 1_000).toFixed(0).padStart(4)} s] ${text}\n`);

/** The suites of each stage: who has a token of Cognito sees every row; who has claims sees what they name. */
const SUITES = [
  { stage: 'cognito', files: ['test/e2e/reports.test.ts', 'test/e2e/delivery.test.ts', 'test/deployed/'] },
  { stage: 'claims', files: ['test/e2e/answers.test.ts', 'test/e2e/entitlements.test.ts'] },
] as const;

try {
  const commands = await installTools();
  await using resources = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'performance-reports-deployed-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const emulator = resources.use(await startEmulator(commands, directory));
  const issuer = resources.use(await startIssuer());
  Object.assign(process.env, emulator.trust, issuer.environment);
  const { bootstrap, cdk } = operator({ endpoint: emulator.url, commands });
  say(`The emulator answers at ${emulator.url}.`);
  await bootstrap();
  for (const { stage } of SUITES) {
    await cdk('deploy', stage, '--all', '--require-approval', 'never');
    say(`Stage ${stage} is deployed.`);
  }
  for (const { stage, files } of SUITES) {
    stop.signal.throwIfAborted();
    const { url: endpoint, faultsFile } = emulator;
    const lane = laneEnvironment({ endpoint, commands, faultsFile, signUrl: issuer.signUrl, stage });
    const given = process.argv.slice(2);
    const suite = spawn(
      'vitest',
      ['run', '--config', 'vitest.deployed.config.ts', ...(given.length > 0 ? given : files)],
      {
        stdio: 'inherit',
        env: { ...process.env, ...lane },
      },
    );
    stop.signal.addEventListener('abort', () => suite.kill());
    const [code] = await once(suite, 'exit');
    if (code !== 0) process.exitCode = 1;
    say(`The suites of stage ${stage} have ended with ${code}.`);
  }
} catch (error) {
  if (!stop.signal.aborted && !(error instanceof LaneFault)) throw error;
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
