import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resourceNames } from '../../infra/resource-names.ts';
import type { Stack, StackOptions } from '../../local/stack.ts';
import type { KnownEvents } from '../e2e/known-events.ts';
import { startValidatingProxy } from '../e2e/validating-proxy.ts';
import { type EventRow as WrittenRow, writeEvents } from '../write-events.ts';
import { faultsIn, SLOWNESS } from './emulator-faults.ts';
import { changeEnvironment } from './function-environment.ts';
import { killProcesses } from './function-processes.ts';
import type { Lane } from './lane.ts';
import { type Operator, operator } from './operator.ts';

/** The functions in which a request waits for its query. */
const WAITING_FUNCTIONS = ['publisherperformance', 'advertiserperformance', 'downloads'];

const FUNCTIONS = [...WAITING_FUNCTIONS, 'publish'];

/** Multiplies every setting in milliseconds by `SLOWNESS`, as `emulator-faults.ts` does with slow queries. */
const slower = (functionEnv: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(functionEnv).map(([name, value]) => [
      name,
      /_MS$/.test(name) ? `${+value * SLOWNESS}` : value,
    ]),
  );

/** Stands for the sandbox of a deployed function. A test can kill the function, but can't invoke it. */
const sandboxOf = (stage: string, name: string) => ({
  kill: () => killProcesses(resourceNames(stage).functionName(name)),
  invoke: () => Promise.reject(new TypeError('a deployed function is invoked by its events')),
});

export interface DeployedStack {
  readonly stack: Stack;
  readonly gatewayUrl: string;
}

/**
 * Prepares a deployed stage for a test, in the shape of the one-machine stack. Replaces the stage's events with the
 * test's, empties the results bucket, and changes the functions' settings.
 */
export async function startDeployed(
  lane: Lane,
  events: KnownEvents,
  { functionEnv = {} }: Partial<StackOptions>,
): Promise<DeployedStack> {
  await using started = new AsyncDisposableStack();
  const { stage, endpoint } = lane;
  const operate = operator(lane);
  const [data, api] = await Promise.all([operate.outputs(stage, 'data'), operate.outputs(stage, 'api')]);
  await upload(operate, events, data as { EventsBucket: string });
  await operate.aws('s3', 'rm', '--recursive', '--quiet', `s3://${data['ResultsBucket']}/`);

  const restore = await changeEnvironment(lane, WAITING_FUNCTIONS, slower(functionEnv));
  started.defer(restore);
  const { hostname, pathname: basePath } = new URL(api['ApiUrl'] ?? '');
  // The emulator finds an API by its id in the host name, which must be under `execute-api.localhost`.
  const host = `${hostname.split('.')[0]}.execute-api.localhost:${new URL(endpoint).port}`;
  const proxy = await startValidatingProxy(endpoint, { host, basePath });
  started.defer(() => proxy.close());
  const faults = faultsIn(lane.faultsFile);
  faults.set([]);

  const running = started.move();
  return {
    gatewayUrl: proxy.url + basePath,
    stack: {
      ...(await credentialsOf(operate, lane)),
      apiUrl: proxy.url + basePath,
      scope: api['Scope'] ?? '',
      storageUrl: endpoint,
      athenaUrl: endpoint,
      faultsUrl: '',
      faults,
      sandboxes: new Map(FUNCTIONS.map((name) => [name, sandboxOf(stage, name)])),
      identityProvider: signer(lane),
      clients: [],
      environment: { ATHENA_WORKGROUP: resourceNames(stage).service },
      register: () => Promise.reject(new TypeError('deployed, `npm run partner` writes the register')),
      close: () => running.disposeAsync(),
    },
  };
}

async function upload(operate: Operator, events: KnownEvents, { EventsBucket }: { EventsBucket: string }) {
  const directory = await mkdtemp(join(tmpdir(), 'performance-reports-'));
  try {
    for (const [table, rows] of Object.entries(events))
      await writeEvents(directory, table, rows as unknown as WrittenRow[]);
    await operate.aws('s3', 'rm', '--recursive', '--quiet', `s3://${EventsBucket}/`);
    await operate.aws('s3', 'cp', '--recursive', '--quiet', directory, `s3://${EventsBucket}/`);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The credentials of a client that may see every row: `client` in stage `pool`, `house` in stage `claims`. */
async function credentialsOf(operate: Operator, { stage, endpoint, client }: Lane) {
  const { TokenUrl: tokenUrl = '' } = await operate.outputs(stage, 'api');
  if (stage === 'claims') return { tokenUrl, clientId: 'house', clientSecret: 'house-secret' };
  if (!client) throw new TypeError('the lane has no client');
  // The stage's TokenUrl has Cognito's host name, which leads to AWS and not to the emulator.
  return { tokenUrl: `${endpoint}/oauth2/token`, ...client };
}

const signer = ({ signUrl }: Lane): Stack['identityProvider'] => ({
  issuer: '',
  tokenUrl: '',
  jwksUri: '',
  signToken: async (claims, options) => {
    const body = JSON.stringify({ claims, options }, keepUndefined);
    const response = await fetch(signUrl, { method: 'POST', body });
    return response.text();
  },
  close: async () => {},
});

/** In `claims` and headers, `undefined` leaves a member out. JSON has no undefined, so null is sent for it. */
const keepUndefined = (_: string, value: unknown) => (value === undefined ? null : value);
