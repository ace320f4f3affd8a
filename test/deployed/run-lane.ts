/**
 * `npm run test:deployed`: deploys two stages, as an operator does, to an AWS emulator that is fetched once, runs the
 * end-to-end suites against them, upgrades and destroys them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LaneFault, NoTools, tell } from '../lane-fault.ts';
import { installTools } from './install-tools.ts';
import { laneEnvironment } from './lane.ts';
import { operator } from './operator.ts';
import { startEmulator } from './start-emulator.ts';
import { startIssuer } from './start-issuer.ts';
import { count, emptyTally, inWords } from './tally.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());

const began = Date.now();
const say = (text: string) =>
  process.stdout.write(`[${((Date.now() - began) / 1_000).toFixed(0).padStart(4)} s] ${text}\n`);

/** The suites of each stage: in `cognito` the caller's record says whose rows it sees, in `claims` its token does. */
const SUITES = [
  { stage: 'cognito', files: ['test/e2e/reports.test.ts', 'test/e2e/delivery.test.ts'] },
  { stage: 'cognito', files: ['test/deployed/partners.test.ts'] },
  { stage: 'claims', files: ['test/e2e/answers.test.ts', 'test/e2e/entitlements.test.ts'] },
  {
    stage: 'cognito',
    files: [
      'test/deployed/joined.test.ts',
      'test/deployed/waiting.test.ts',
      'test/deployed/permissions.test.ts',
    ],
  },
  { stage: 'cognito', files: ['test/deployed/runbook.test.ts'] },
  { stage: 'cognito', files: ['test/deployed/first-deployment.test.ts'] },
  { stage: 'cognito', files: ['test/deployed/life.test.ts'] },
] as const;

/** All suites, or those named on the command line. */
const given = process.argv.slice(2);
const chosen = SUITES.map(({ stage, files }) => ({
  stage,
  files: files.filter((file) => given.length === 0 || given.includes(file)),
})).filter(({ files }) => files.length > 0);

/** Adds partners `house`, whose client the suites use, and `probe`; both see every row. */
async function addHouse(partner: (...parameters: string[]) => Promise<string>) {
  const everything = ['--publisher-companies', 'every-company', '--advertiser-companies', 'every-company'];
  const output = await partner(
    'add',
    'cognito',
    'house',
    ...everything,
    '--contact',
    'house@partner.example',
  );
  const [clientId = '', clientSecret = ''] = ['client id', 'client secret'].map(
    (name) => RegExp(`${name} +(\\S+)`).exec(output)?.[1],
  );
  const id = /client (\S+), "probe" in Cognito/.exec(await partner('list', 'cognito'))?.[1] ?? '';
  await partner(
    'add',
    'cognito',
    'probe',
    '--client',
    id,
    ...everything,
    '--contact',
    'house@partner.example',
  );
  say('Partners house and probe are added to stage cognito.');
  return { clientId, clientSecret };
}

try {
  if (process.platform !== 'linux')
    throw new NoTools('The lane needs Linux: it ends functions by what /proc tells of their processes.');
  if (chosen.length === 0) throw new LaneFault(`The lane has no suite ${given.join(' ')}.`);
  const commands = await installTools();
  await using resources = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'performance-reports-deployed-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const emulator = resources.use(await startEmulator(commands, directory));
  const issuer = resources.use(await startIssuer());
  Object.assign(process.env, emulator.trust, issuer.environment);
  const { bootstrap, cdk, partner } = operator({ endpoint: emulator.url, commands });
  say(`The emulator answers at ${emulator.url}.`);
  await bootstrap();
  for (const stage of new Set(chosen.map(({ stage }) => stage))) {
    await cdk('deploy', stage, '--all', '--require-approval', 'never');
    say(`Stage ${stage} is deployed.`);
  }
  const client = chosen.some(({ stage }) => stage === 'cognito') ? await addHouse(partner) : undefined;
  const tally = emptyTally();
  const report = join(directory, 'suite.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  for (const { stage, files } of chosen) {
    stop.signal.throwIfAborted();
    const { url: endpoint, id: emulatorId, faultsFile } = emulator;
    const lane = laneEnvironment({
      endpoint,
      emulatorId,
      commands,
      faultsFile,
      signUrl: issuer.signUrl,
      stage,
      ...(client && { client }),
    });
    const suite = spawn('vitest', ['run', ...reporters, ...files], {
      stdio: 'inherit',
      env: { ...process.env, ...lane, SUITE: 'deployed' },
    });
    stop.signal.addEventListener('abort', () => suite.kill());
    const [code] = await once(suite, 'exit');
    if (code !== 0) process.exitCode = 1;
    stop.signal.throwIfAborted();
    await count(tally, report);
    say(`The suites of stage ${stage} have ended with ${code}.`);
  }
  say(inWords(tally));
} catch (error) {
  tell(stop.signal.aborted ? new LaneFault('The lane was stopped.') : error);
}
