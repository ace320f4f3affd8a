import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { addHouse } from './add-house.ts';
import { laneEnvironment } from './lane.ts';
import { operator } from './operator.ts';
import { startEmulator } from './start-emulator.ts';
import type { startIssuer } from './start-issuer.ts';

/** Test files, which run in this order against a stage of `stages.ts`. */
export interface Suite {
  readonly stage: 'pool' | 'claims';
  readonly files: readonly string[];
}

/** A case in vitest's JSON report. */
export interface Case {
  readonly title: string;
  readonly status: string;
}

export interface Surroundings {
  readonly commands: string;
  /** A folder for temporary files. It is removed after all suites. */
  readonly directory: string;
  readonly issuer: Awaited<ReturnType<typeof startIssuer>>;
  /** The cases that have run or were left out. */
  readonly cases: Case[];
  readonly stop: AbortSignal;
  readonly say: (text: string) => void;
}

/**
 * Starts an emulator, deploys the stages of these suites to it as an operator does, and runs the suites one after the
 * other. Adds their cases to `cases`, and prints each suite's output at its end.
 */
export async function runSuites(
  suites: readonly Suite[],
  { commands, directory: parent, issuer, cases, stop, say }: Surroundings,
): Promise<void> {
  const directory = await mkdtemp(join(parent, 'lane-'));
  await using emulator = await startEmulator(commands, directory);
  const trust = { ...emulator.trust, ...issuer.environment };
  const account = { endpoint: emulator.url, commands, directory };
  const operate = operator({ ...account, trust });
  await operate.bootstrap();
  for (const stage of new Set(suites.map(({ stage }) => stage))) {
    await operate.cdk('deploy', stage, '--all', '--require-approval', 'never');
    say(`Stage ${stage} is deployed to ${emulator.url}.`);
  }
  const client = suites.some(({ stage }) => stage === 'pool') ? await addHouse(operate, 'pool') : undefined;
  for (const { stage, files } of suites) {
    stop.throwIfAborted();
    const report = join(directory, 'suite.json');
    const lane = laneEnvironment({
      ...account,
      emulatorId: emulator.id,
      faultsFile: emulator.faultsFile,
      signUrl: issuer.signUrl,
      stage,
      ...(client && { client }),
    });
    const suite = spawn(
      'vitest',
      ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...files],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, ...trust, ...lane, SUITE: 'deployed' },
        signal: stop,
      },
    );
    const [output, [code]] = await Promise.all([text(suite.stdout), once(suite, 'exit')]);
    process.stdout.write(output);
    if (code !== 0) process.exitCode = 1;
    const { testResults }: { testResults: { assertionResults: Case[] }[] } = JSON.parse(
      await readFile(report, 'utf8'),
    );
    cases.push(...testResults.flatMap(({ assertionResults }) => assertionResults));
    say(`${files.join(', ')} ended with ${code}.`);
  }
}
