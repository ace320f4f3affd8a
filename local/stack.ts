/** The one-machine stack: starts all stand-ins in their order. Each stand-in has a folder of its own. */
import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { partnerKey } from '../lib/access/partner-record.ts';
import { scopeOf } from '../lib/access/verify-token.ts';
import type { Variable } from '../lib/config.ts';
import { RETRY_PAUSES_MS, settingsOf } from '../lib/function-settings.ts';
import { DOWNLOAD_CORS, RESULTS_PREFIX } from '../lib/names.ts';
import { utcDay } from '../lib/report/utc-time.ts';
import {
  downloadPath,
  PREFLIGHT_METHOD,
  PUBLIC_FUNCTION,
  ROUTE_METHODS,
  routes as serviceRoutes,
} from '../lib/routes.ts';
import { makePage, type PageFiles, writePage } from '../page/build-page.ts';
import { type AthenaOptions, startAthena } from './athena/athena.ts';
import type { OpenEngine } from './athena/query-engine.ts';
import { describeRows, type LocalPartner, SAMPLE_PARTNERS } from './clients.ts';
import { startDownloadsEdge } from './downloads-edge/downloads-edge.ts';
import { createFaults, startFaultControl } from './faults/faults.ts';
import { createAdmission, utilizationOf } from './gateway/admission.ts';
import { type GatewayOptions, type Route, startGateway } from './gateway/gateway.ts';
import {
  createSandbox,
  type EventQueue,
  eventQueue,
  type Log,
  objectCreatedEvent,
  type Sandbox,
} from './gateway/lambda.ts';
import { answerSamplePartners } from './gateway/sample-partners.ts';
import { type Client, startIdentityProvider } from './identity-provider/identity-provider.ts';
import { startObjectStore } from './object-store/object-store.ts';
import type { CallRate } from './token-bucket.ts';

export interface StackOptions {
  /** Opens the engine that answers the queries. */
  readonly openEngine: OpenEngine;
  /** The directory of the events, which the functions list as a bucket. If left out, there is no such bucket. */
  readonly eventsDirectory?: string | undefined;
  /** The directory for the stack's own files. The start makes it, and the end removes it. */
  readonly directory: string;
  /** The gateway's port. 0 takes a free port. */
  readonly port: number;
  /** The module of a function: its source, or its bundle. */
  readonly functionModule?: (functionName: string) => URL;
  /** The rate at which the gateway takes requests, like a stage's throttling. If left out, there is no limit. */
  readonly throttling?: CallRate;
  /** Athena's quotas. If left out, they are those of a new account. If false, there are none. */
  readonly athenaQuotas?: AthenaOptions['quotas'];
  /** The pause before each retry of an event whose function failed. If left out, the pauses are Lambda's. */
  readonly asyncRetryPausesMs?: readonly number[];
  /** The partners that may fetch tokens, the stack's own client first. If left out, they are the sample partners. */
  readonly partners?: readonly LocalPartner[] | undefined;
  /** The last day with events, `YYYY-MM-DD`. If left out, it is today. */
  readonly lastDay?: () => Promise<string>;
  /** Whether the gateway admits all requests, even if the machine is busy. */
  readonly admitsAll?: boolean;
  /** Whether files are downloaded through the stand-in for the edge. */
  readonly hasDownloadsEdge?: boolean;
  /** Origins whose pages may call the service. */
  readonly corsOrigins?: readonly string[];
  /** Changes to the functions' environment. */
  readonly functionEnv?: Readonly<Record<string, string>>;
  /** Receives the functions' output. Without it, this process prints the output. */
  readonly log?: Log;
}

/** Everything that a client needs, and what only a test needs. */
export type Stack = Awaited<ReturnType<typeof startStack>>;

const API_SCOPE = 'api://performance-reports';

/** The scope that a request for this stack's tokens must name. */
export const SCOPE = scopeOf({ apiScope: API_SCOPE });

const BUCKET = 'performance-reports-results';
const EVENTS_BUCKET = 'performance-reports-events';
const PARTNERS_BUCKET = 'performance-reports-partners';
const DATABASE = 'performance_reports';
const WORKGROUP = 'performance-reports';

/** The route of waiting URLs. */
const WAITING_ROOM = downloadPath('{ticket}', '{hop}');

const sourceOf = (functionName: string) => new URL(`../functions/${functionName}.ts`, import.meta.url);

let page: PageFiles | undefined;

/** Writes the page's files into a directory and returns the directory. A process builds them once, in half a second. */
function pageIn(directory: string): string {
  page ??= makePage();
  writePage(directory, page);
  return directory;
}

/**
 * Starts the whole service on loopback: object store, query engine, identity provider, functions, gateway. Rejects
 * with one clear message if the engine can't read the events, or with the system's error if the port is busy. Before
 * it rejects, it stops everything that it has started.
 */
export async function startStack(options: StackOptions) {
  const {
    directory,
    openEngine,
    eventsDirectory,
    port,
    functionModule = sourceOf,
    partners = SAMPLE_PARTNERS,
    functionEnv = {},
    corsOrigins = [],
    admitsAll = false,
    hasDownloadsEdge = false,
    log,
  } = options;
  const clients = partners.map(({ record, secret }): Client => {
    return { clientId: record.client, clientSecret: secret ?? randomBytes(20).toString('hex') };
  });
  const [own] = clients as [Client];
  await using started = new AsyncDisposableStack();
  const close = async (one: { close(): unknown }) => void (await one.close());
  // The owner's alone: it holds the reports and the register.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  started.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));

  const faults = createFaults();
  // The queue is set once the publishing function exists. Nothing is published before.
  let publications: EventQueue | undefined;
  const starting = startObjectStore({
    directory: join(directory, 'storage'),
    buckets: [BUCKET, PARTNERS_BUCKET],
    unlisted: [PARTNERS_BUCKET],
    createOnlyPrefixes: [RESULTS_PREFIX.reports],
    shown: eventsDirectory ? { [EVENTS_BUCKET]: eventsDirectory } : {},
    faults,
    corsRules: { [BUCKET]: DOWNLOAD_CORS },
    onObjectCreated: (object) => {
      if (object.key.startsWith(RESULTS_PREFIX.publications)) publications?.send(objectCreatedEvent(object));
    },
  });
  const store = started.adopt(await starting, close);
  const register = async (client: string, record: unknown): Promise<void> =>
    store.put({ bucket: PARTNERS_BUCKET, key: partnerKey(client) }, JSON.stringify(record));
  for (const { record } of partners) await register(record.client, record);
  const place = { database: DATABASE, scratchDirectory: join(directory, 'scratch') };
  const engine = started.adopt(await openEngine(place), close);
  const athenaOptions = {
    engine,
    results: store,
    resultsUri: `s3://${BUCKET}/${RESULTS_PREFIX.athena}`,
    database: DATABASE,
    workgroup: WORKGROUP,
    quotas: options.athenaQuotas,
    faults,
  };
  const athena = started.adopt(await startAthena(athenaOptions), close);
  const edge = hasDownloadsEdge ? started.adopt(await startDownloadsEdge(store.url), close) : undefined;
  const faultControl = started.adopt(await startFaultControl(faults), close);
  const identityProvider = started.adopt(await startIdentityProvider({ clients }), close);

  const env: Record<string, string> = {
    // The SDK reads its endpoints and the region from these variables. The functions' own code does not read them.
    AWS_ENDPOINT_URL_S3: store.url,
    AWS_ENDPOINT_URL_ATHENA: athena.url,
    AWS_REGION: store.region,
    AWS_ACCESS_KEY_ID: store.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: store.credentials.secretAccessKey,
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    POWERTOOLS_SERVICE_NAME: 'performance-reports',
    // Metrics are lines in the log for CloudWatch. On this machine, nothing reads them.
    POWERTOOLS_METRICS_DISABLED: 'true',
    TOKEN_ISSUER: identityProvider.issuer,
    TOKEN_JWKS_URI: identityProvider.jwksUri,
    API_SCOPE,
    ACCESS_TOKEN_ENDPOINT: identityProvider.tokenUrl,
    ENTITLEMENTS: 'partners',
    PARTNERS_BUCKET,
    ATHENA_DATABASE: DATABASE,
    ATHENA_WORKGROUP: WORKGROUP,
    RESULTS_BUCKET: BUCKET,
    ...(eventsDirectory && { EVENTS_BUCKET }),
    ...(edge && { DOWNLOADS_EDGE_ORIGIN: edge.url, LINKS_LEAD_TO_EDGE: 'yes' }),
    CORS_ORIGINS: corsOrigins.join(','),
    ...(options.throttling && { REQUESTS_PER_SECOND: String(options.throttling.perSecond) }),
    ...(functionModule === sourceOf && { PAGE_FILES: pageIn(join(directory, 'page')) }),
    ...functionEnv,
  } satisfies Partial<Record<Variable | `AWS_${string}` | `POWERTOOLS_${string}`, string>>;
  const sandboxes = new Map<string, Sandbox>();
  /** The function's sandbox, made for its first caller. */
  const sandboxOf = (name: string): Sandbox => {
    const timeoutMs = settingsOf(name).timeoutSeconds * 1_000;
    const sandbox =
      sandboxes.get(name) ?? createSandbox({ name, entry: functionModule(name), env, timeoutMs, log });
    if (!sandboxes.has(name)) started.defer(() => sandbox.kill());
    sandboxes.set(name, sandbox);
    return sandbox;
  };
  const queueOf = (name: 'publish' | 'abandon', onFailure?: EventQueue['send']) => {
    const { asyncRetryPausesMs: retryPausesMs = RETRY_PAUSES_MS } = options;
    const queue = eventQueue({ name, sandbox: sandboxOf(name), retryPausesMs, onFailure, log });
    return started.adopt(queue, close);
  };
  publications = queueOf('publish', queueOf('abandon').send);
  const isForPages = corsOrigins.length > 0;
  const routes = serviceRoutes.map(
    ({ functionName, path, report }): Route => ({
      methods: isForPages ? [...ROUTE_METHODS, PREFLIGHT_METHOD] : ROUTE_METHODS,
      path,
      sandbox: sandboxOf(functionName),
      purpose: path === WAITING_ROOM ? 'waiting' : report && 'new',
    }),
  );
  const needed = routes.filter(({ purpose }) => purpose).map(({ sandbox }) => sandbox.utilization);
  const utilizations = [utilizationOf(() => performance.eventLoopUtilization), ...needed];
  const room = { utilizations, queuedQueries: athena.queued, maxQueued: 2 * engine.maxRunning };
  const admission = started.adopt(createAdmission(room), close);
  const { tokenUrl } = identityProvider;
  const samplePartners = clients.map((client, index) => ({
    ...{ tokenUrl, ...client, scope: SCOPE },
    sees: describeRows(partners[index] as LocalPartner),
  }));
  const { lastDay = async () => utcDay(Date.now()) } = options;
  const gatewayOptions: GatewayOptions = {
    throttling: options.throttling,
    admission: admitsAll ? undefined : admission,
    notFound: sandboxOf(PUBLIC_FUNCTION),
    isForPages,
    answerLocalPath: (...asked) => answerSamplePartners(samplePartners, lastDay, ...asked),
    log,
  };
  const gateway = started.adopt(await startGateway(routes, port, gatewayOptions), close);

  const running = started.move();
  return {
    apiUrl: gateway.url,
    tokenUrl,
    ...own,
    scope: SCOPE,
    storageUrl: store.url,
    athenaUrl: athena.url,
    /** The address of the fault control, to inject faults by hand. */
    faultsUrl: faultControl.url,
    faults,
    /** The functions' sandboxes, by the function's name. A test may kill one of them. */
    sandboxes: sandboxes as ReadonlyMap<string, Pick<Sandbox, 'invoke' | 'kill'>>,
    identityProvider,
    /** The clients that may fetch tokens. */
    clients,
    /** The environment variables of the functions. */
    environment: env as Readonly<Record<string, string>>,
    /** Replaces a client's record in the register. Removes the record if `record` is undefined. */
    register,
    close: (): Promise<void> => running.disposeAsync(),
  };
}
