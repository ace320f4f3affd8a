import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LaneFault } from './lane-fault.ts';

const START_MS = 60_000;
const STOP_MS = 5_000;
const POLL_MS = 100;

/** An AWS on loopback that no one here wrote, with the bends of `emulator.py`. */
export interface Emulator extends AsyncDisposable {
  readonly url: string;
  /** What goes wrong there, as JSON: read at each query. */
  readonly faultsFile: string;
  /** Where its own words are. */
  readonly log: string;
}

export async function startEmulator(commands: string, directory: string): Promise<Emulator> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const faultsFile = join(directory, 'faults.json');
  const log = join(directory, 'emulator.log');
  const scratch = join(directory, 'scratch');
  await mkdir(scratch, { recursive: true });
  const output = await open(log, 'w');
  const child = spawn(join(commands, 'python'), [join(import.meta.dirname, 'emulator.py')], {
    stdio: ['ignore', output.fd, output.fd],
    env: {
      // Its functions run on the Node that stands first here.
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      TMPDIR: scratch,
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      // These two would listen on every interface.
      IOT_MTLS_ENABLED: 'false',
      SFTP_ENABLED: 'false',
      LOG_LEVEL: 'WARNING',
      LANE_ENDPOINT: url,
      LANE_FAULTS: faultsFile,
    },
  });
  await output.close();
  if (!(await isReady(url, child))) {
    await stop(child);
    throw new LaneFault(
      `The emulator does not start: ${(await readFile(log, 'utf8')).trim().split('\n').at(-1)}`,
    );
  }
  return { url, faultsFile, log, [Symbol.asyncDispose]: () => stop(child) };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

async function isReady(url: string, child: ChildProcess): Promise<boolean> {
  const until = Date.now() + START_MS;
  while (!hasEnded(child) && Date.now() < until) {
    const answer = await fetch(`${url}/_ministack/health`).catch(() => undefined);
    if (answer?.ok) return true;
    await pause(POLL_MS);
  }
  return false;
}

async function stop(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill();
  const insist = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(insist);
}
