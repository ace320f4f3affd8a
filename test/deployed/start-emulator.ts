import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LaneFault } from './lane-fault.ts';

const START_MS = 60_000;
const STOP_MS = 5_000;
const POLL_MS = 100;

/** An AWS on loopback that no one here wrote, with the bends of `emulator.py`. It enforces IAM, and speaks TLS. */
export interface Emulator extends AsyncDisposable {
  readonly url: string;
  /** By which Node.js, the AWS CLI and curl trust its certificate. */
  readonly trust: Readonly<Record<string, string>>;
  /** What goes wrong there, as JSON: read at each query. */
  readonly faultsFile: string;
  /** Where its own words are. */
  readonly log: string;
}

export async function startEmulator(commands: string, directory: string): Promise<Emulator> {
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
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
      AUTH: 'true',
      USE_SSL: '1',
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
  if (!(await isReady(port, child))) {
    await stop(child);
    throw new LaneFault(
      `The emulator does not start: ${(await readFile(log, 'utf8')).trim().split('\n').at(-1)}`,
    );
  }
  const certificate = join(scratch, 'ministack-tls', 'server.crt');
  return {
    url,
    trust: {
      NODE_EXTRA_CA_CERTS: certificate,
      AWS_CA_BUNDLE: certificate,
      CURL_CA_BUNDLE: certificate,
    },
    faultsFile,
    log,
    [Symbol.asyncDispose]: () => stop(child),
  };
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

async function isReady(port: number, child: ChildProcess): Promise<boolean> {
  const until = Date.now() + START_MS;
  while (!hasEnded(child) && Date.now() < until) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return true;
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
