import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resourceNames } from '../../infra/resource-names.ts';
import { ENV } from '../../lib/names.ts';
import { type EventRow as WrittenRow, writeEvents } from '../../local/events/write-events.ts';
import type { Stack, StackOptions } from '../../local/stack.ts';
import type { KnownEvents } from '../e2e/known-events.ts';
import { startValidatingProxy } from '../e2e/validating-proxy.ts';
import { faultsIn, SLOWNESS } from './emulator-faults.ts';
import { changeEnvironment } from './function-environment.ts';
import { killProcesses } from './function-processes.ts';
import type { Lane } from './lane.ts';
import { type Operator, operator } from './operator.ts';

/** The functions that a request waits in. */
const WAITING_FUNCTIONS = ['publisherperformance', 'advertiserperformance', 'downloads'];

const FUNCTIONS = [...WAITING_FUNCTIONS, 'publish'];

/** Lengthens every setting in milliseconds by the factor by which slow queries are slower in the lane. */
const slower = (functionEnv: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(functionEnv).map(([name, value]) => [
      name,
      name.endsWith('_MS') ? String(Number(value) * SLOWNESS) : value,
    ]),
  );

/** A deployed function in place of a sandbox: a test may only kill it. */
const sandboxOf = (stage: string, name: string) => ({
  kill: () => killProcesses(resourceNames(stage).functionName(name)),
  invoke: () => Promise.reject(new TypeError('a deployed function is invoked by its events')),
});

export interface DeployedStack {
  readonly stack: Stack;
  readonly gatewayUrl: string;
}

/** Where a deployed API lies: the name by which the emulator knows it, and the path before its own paths. */
export function siteOf(apiUrl: string, endpoint: string) {
  const { hostname, pathname } = new URL(apiUrl);
  // The emulator reads the API's id from the host name, which must be under `execute-api.localhost`.
  const host = `${hostname.split('.')[0]}.execute-api.localhost:${new URL(endpoint).port}`;
  return { host, basePath: pathname };
}

/**
 * A deployed stage in the shape of the one-machine stack: with a test's events instead of those before, an empty
 * results bucket, and the functions' settings as the test wants them.
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
  const { host, basePath } = siteOf(api['ApiUrl'] ?? '', endpoint);
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
      environment: { [ENV.athenaWorkgroup]: resourceNames(stage).service },
      register: () => Promise.reject(new TypeError('deployed, `npm run partner` writes the register')),
      athenaCalls: () => [],
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

/** A client's credentials: as docs/deploy.md hands them over to a partner or, in stage `claims`, of client `house`. */
async function credentialsOf(operate: Operator, { stage, endpoint, client }: Lane) {
  if (stage === 'claims')
    return {
      tokenUrl: (await operate.outputs(stage, 'api'))['TokenUrl'] ?? '',
      clientId: 'house',
      clientSecret: 'house-secret',
    };
  if (!client) throw new TypeError('the lane has no client');
  // The stage's TokenUrl has Cognito's host name, which leads to AWS and not to the emulator.
  return { tokenUrl: `${endpoint}/oauth2/token`, ...client };
}

const signer = ({ signUrl }: Lane): Stack['identityProvider'] => ({
  issuer: '',
  tokenUrl: '',
  jwksUri: '',
  signToken: async (claims, options) => {
    const response = await fetch(signUrl, {
      method: 'POST',
      body: JSON.stringify({ claims, options }, keepUndefined),
    });
    return response.text();
  },
  close: async () => {},
});

/** `undefined` means that a claim or header is left out. JSON has no undefined, so null is sent for it. */
const keepUndefined = (_: string, value: unknown) => (value === undefined ? null : value);
