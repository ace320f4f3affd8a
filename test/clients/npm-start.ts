import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessToken } from '../../local/access-token.ts';
import type { Stack } from '../../local/stack.ts';
import { spawnNode } from '../spawn-node.ts';
import { writeTables } from '../write-events.ts';
import { guideEvents } from './guide-events.ts';

/** A running `npm start`, with the facts that it gives its user. */
interface Started extends Omit<Facts, 'faultsUrl'> {
  readonly token: string;
  readonly environment: ReturnType<typeof environmentOf>;
  setFaults(faults: readonly object[]): Promise<void>;
  close(): Promise<void>;
}

type Facts = Pick<
  Stack,
  'apiUrl' | 'tokenUrl' | 'clientId' | 'clientSecret' | 'scope' | 'storageUrl' | 'faultsUrl'
>;

/** The environment variables for every program of the guides. */
export const environmentOf = (
  { apiUrl, tokenUrl, clientId, clientSecret, scope }: Omit<Facts, 'faultsUrl' | 'storageUrl'>,
  token: string,
) => ({
  ...{ API_URL: apiUrl, TOKEN_URL: tokenUrl, SCOPE: scope, TOKEN: token },
  ...{ CLIENT_ID: clientId, CLIENT_SECRET: clientSecret },
});

const ROOT = join(import.meta.dirname, '../..');

/** Runs `npm start` in a new process, on the events of the guides. `settings` are environment variables for it. */
export async function npmStart(settings: Readonly<Record<string, string>> = {}): Promise<Started> {
  const home = await mkdtemp(join(tmpdir(), 'performance-reports-started-'));
  const events = join(home, 'events');
  await writeTables(events, guideEvents);
  const { stop } = await startIn(join(home, 'state'), { EVENTS_DIR: events, ...settings });
  const facts = JSON.parse(await readFile(join(home, 'state', 'stack.json'), 'utf8')) as Facts;
  const token = await accessToken(facts);
  return {
    ...facts,
    token,
    environment: environmentOf(facts, token),
    async setFaults(faults) {
      const response = await fetch(facts.faultsUrl, { method: 'PUT', body: JSON.stringify(faults) });
      if (!response.ok) throw new Error(await response.text());
    },
    async close() {
      await stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Runs `npm start` in a new process. `env` has more environment variables for it. */
export function runStart(env: Readonly<Record<string, string>>, args: readonly string[] = [], cwd = ROOT) {
  const child = spawnNode(['local/start.ts', ...args], { cwd, env: { ...process.env, PORT: '0', ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const exitCode = once(child, 'close').then(([code]): number | null => code);
  return { child, exitCode, output: () => output };
}

/**
 * Runs `npm start` in a new process, with its state in this folder. Resolves once it serves, to what it has printed.
 *
 * @param tree the tree whose code runs; by default, this one
 */
export async function startIn(folder: string, settings: Readonly<Record<string, string>>, tree = ROOT) {
  const { child, exitCode, output } = runStart({ LOCAL_DIR: folder, ...settings }, [], tree);
  child.stderr.pipe(process.stderr);
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', () => output().includes('Ctrl-C') && resolve());
    child.once('exit', () => reject(new Error(`npm start ended:\n${output()}`)));
  });
  return {
    output: output(),
    async stop() {
      child.kill('SIGINT');
      await exitCode;
    },
  };
}
