import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { LaneFault } from '../lane-fault.ts';
import { freePort, stopServer, untilReady } from '../server-process.ts';

const START_MS = 60_000;
const STOP_MS = 5_000;

/** MiniStack on loopback, with the adaptations of `emulator.py`. It enforces IAM and speaks TLS. */
export interface Emulator extends AsyncDisposable {
  readonly url: string;
  readonly id: number;
  /** Environment variables by which Node.js, the AWS CLI and curl trust the emulator's certificate. */
  readonly trust: Readonly<Record<string, string>>;
  /** The file with the faults as JSON; the emulator reads it at each call. */
  readonly faultsFile: string;
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
    // The emulator ends when its standard input ends.
    stdio: ['pipe', output.fd, output.fd],
    env: {
      // The emulator runs functions on the first Node.js in this PATH.
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      TMPDIR: scratch,
      BIND_HOST: '127.0.0.1',
      AUTH: 'true',
      USE_SSL: '1',
      GATEWAY_PORT: String(port),
      // These two servers would listen on every interface.
      IOT_MTLS_ENABLED: 'false',
      SFTP_ENABLED: 'false',
      LOG_LEVEL: 'WARNING',
      LANE_ENDPOINT: url,
      LANE_FAULTS: faultsFile,
    },
  });
  await output.close();
  if (!(await untilReady(child, START_MS, () => isListening(port)))) {
    await stopServer(child, STOP_MS);
    throw new LaneFault(
      `The emulator does not start: ${(await readFile(log, 'utf8')).trim().split('\n').at(-1)}`,
    );
  }
  const certificate = join(scratch, 'ministack-tls', 'server.crt');
  return {
    url,
    id: child.pid ?? 0,
    trust: { NODE_EXTRA_CA_CERTS: certificate, AWS_CA_BUNDLE: certificate, CURL_CA_BUNDLE: certificate },
    faultsFile,
    log,
    [Symbol.asyncDispose]: () => stopServer(child, STOP_MS),
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
