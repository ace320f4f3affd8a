import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { JAVA } from './install-trino.ts';
import { LaneFault } from './lane-fault.ts';
import { configure, parametersFor } from './trino-configuration.ts';

const START_MS = 120_000;
const STOP_MS = 10_000;
const POLL_MS = 250;

/** A Trino server of one node, on loopback. */
export interface TrinoServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts the server that lies in a directory. It keeps what it writes in a temporary one, removed at its end. */
export async function startTrino(home: string): Promise<TrinoServer> {
  await using started = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'performance-reports-trino-'));
  started.defer(() => rm(directory, { recursive: true, force: true }));
  const url = `http://127.0.0.1:${await freePort()}`;
  await configure(directory, url);
  const logPath = join(directory, 'server.log');
  const log = await open(logPath, 'w');
  const child = spawn(JAVA, parametersFor(home, directory), {
    stdio: ['ignore', log.fd, log.fd],
    cwd: directory,
  });
  started.defer(() => stop(child));
  await log.close();
  if (!(await isReady(url, child))) {
    const lines = (await readFile(logPath, 'utf8')).trimEnd().split('\n');
    throw new LaneFault(`Trino does not start: ${lines.findLast((line) => /ERROR|Exception/.test(line))}`);
  }
  const running = started.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
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
    const info = await fetch(`${url}/v1/info`).then(
      (response) => response.json() as Promise<{ starting?: boolean }>,
      () => undefined,
    );
    if (info?.starting === false) return true;
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
