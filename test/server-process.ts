import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 100;

/** A free port on loopback. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

/** Polls until the server is ready. Returns false if the server ends first, or is not ready within `withinMs`. */
export async function untilReady(
  child: ChildProcess,
  withinMs: number,
  isReady: () => Promise<boolean>,
): Promise<boolean> {
  const until = Date.now() + withinMs;
  while (!hasEnded(child) && Date.now() < until) {
    if (await isReady()) return true;
    await pause(POLL_MS);
  }
  return false;
}

/** Ends a server by a signal, and kills it if it still runs after `callerWaitMs`. */
export async function stopServer(child: ChildProcess, callerWaitMs: number): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill();
  const insist = setTimeout(() => child.kill('SIGKILL'), callerWaitMs);
  await ended;
  clearTimeout(insist);
}
