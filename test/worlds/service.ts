import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { FunctionDependencies } from '../../lib/http/function-dependencies.ts';
import { athenaClient } from './athena-client.ts';
import { type Invocation, type Machine, running } from './invocation.ts';
import type { EngineQuery } from './modelled-athena.ts';
import type { InvocationContext } from './modelled-lambda.ts';
import type { Backends } from './parts.ts';
import { type FileWrite, s3Client } from './s3-client.ts';
import type { Releases, ServiceCode } from './service-code.ts';
import type { World } from './world.ts';

/** Called when the service's functions do something that a rule checks. */
export interface Listeners {
  readonly onFile: (write: FileWrite) => void;
  readonly onUnderWay: (query: EngineQuery, by: Invocation, isQueued: boolean) => void;
  readonly onMetric: (name: string, value: number, by: Invocation) => void;
  readonly onLine: (message: string, facts: Readonly<Record<string, unknown>>, by: Invocation) => void;
}

/** The service's own handlers, which call the model. Each machine has its own handlers and caches. */
export type ModelledService = ReturnType<typeof modelledService>;

export function modelledService(
  world: World,
  { current, before }: Releases,
  aws: Backends,
  { onFile, onUnderWay, onMetric, onLine }: Listeners,
) {
  const alive = (act: (by: Invocation) => void) => {
    const by = running.getStore();
    if (by && !by.isDead) act(by);
  };
  const log: FunctionDependencies['log'] = {
    info: (message, facts) => alive((by) => onLine(message, facts, by)),
    error: (message, facts) => alive((by) => onLine(message, facts, by)),
  };
  const metrics = {
    addMetric: (name: string, _unit: string, value: number) => alive((by) => onMetric(name, value, by)),
    publishStoredMetrics: () => {},
  } as unknown as FunctionDependencies['metrics'];
  /** The service's own adapters, over clients of this machine's own. */
  const dependenciesOf = (code: ServiceCode) => {
    const s3 = code.keepAnswerDates(s3Client(world, aws, onFile));
    const athena = code.keepAnswerDates(athenaClient(world, aws.athena, onUnderWay));
    const listings: Parameters<ServiceCode['s3Lake']>[2]['cache'] = new Map();
    const records: Parameters<ServiceCode['s3Register']>[2]['cache'] = new Map();
    // Release 1.0.0 has the second name.
    const ignored = { onListingUnavailable: () => {}, onUnlistable: () => {} };
    return {
      config: configOf(code, world),
      log,
      metrics,
      backendsUntil: (until: number) => ({
        queries: code.athenaQueries(athena, { database: 'reports', workgroup: 'reports' }, until),
        results: {
          ...code.s3ResultsBucket(s3, 'results', until),
          // To sign takes a millisecond, so links are signed in every fourth world. Release 1.0.0 signs by its own clock.
          ...((world.seed % 4 > 0 || world.plan.isMixed) && { presign: unsigned }),
        },
        lake: code.s3Lake(s3, { bucket: 'lake', prefix: '' }, { until, cache: listings, ...ignored }),
        register: code.s3Register(s3, 'partners', { until, cache: records }),
      }),
      largeFilesUntil: (until: number) => code.s3LargeFiles(s3, 'results', until),
    };
  };
  const unsigned = async (key: string, seconds: number) =>
    `https://results.example/${key}?until=${world.time.now() + seconds * 1_000}`;
  const verifyToken = async (header: string | undefined) => ({ client_id: header?.slice('Bearer '.length) });

  const perMachine = <Event, Result>(
    make: (
      code: ServiceCode,
      dependencies: ReturnType<typeof dependenciesOf>,
    ) => (event: Event, context: InvocationContext) => Promise<Result>,
  ) => {
    const made = new Map<Machine, ReturnType<typeof make>>();
    return (event: Event, machine: Machine, context: InvocationContext): Promise<Result> => {
      let handle = made.get(machine);
      if (!handle) {
        const code = (machine.isOfReleaseBefore && before) || current;
        if (code !== current) {
          world.count('machine of the release before');
          world.tell?.(machine.name, 'runs the release before');
        }
        handle = make(code, dependenciesOf(code));
        made.set(machine, handle);
      }
      return handle(event, { ...context });
    };
  };
  type Answer = APIGatewayProxyResult;
  return {
    report: perMachine<APIGatewayProxyEvent, Answer>(
      (code, dependencies) =>
        code.reportHandler(code.publisherReport, { ...dependencies, verifyToken }) as never,
    ),
    days: perMachine<APIGatewayProxyEvent, Answer>(
      (code, dependencies) =>
        code.daysHandler(code.publisherReport, { ...dependencies, verifyToken }) as never,
    ),
    downloads: perMachine<APIGatewayProxyEvent, Answer>(
      (code, given) => code.downloadsHandler(given) as never,
    ),
    publish: perMachine((code, dependencies) => code.publicationHandler(dependencies)),
    abandon: perMachine((code, dependencies) => code.abandonmentHandler(dependencies)),
  };
}

/** Within how many hours of its end each day is promised to be final. */
export const FINAL_AFTER_HOURS = 30;

function configOf(
  code: ServiceCode,
  { plan: { settings }, deployedAt }: World,
): ReturnType<ServiceCode['readConfig']> {
  const { queriesPerPartner, longestQueryMs, listingSeconds } = settings;
  const gigabytes = settings.raisesLimit && deployedAt !== undefined ? 2 : 1;
  return code.readConfig({
    TOKEN_ISSUER: 'https://issuer.example',
    TOKEN_JWKS_URI: 'https://issuer.example/keys',
    API_SCOPE: 'api://reports',
    ENTITLEMENTS: 'partners',
    PARTNERS_BUCKET: 'partners',
    EVENTS_BUCKET: 'lake',
    ATHENA_DATABASE: 'reports',
    ATHENA_WORKGROUP: 'reports',
    RESULTS_BUCKET: 'results',
    QUERIES_PER_PARTNER: String(queriesPerPartner),
    LONGEST_QUERY_MS: String(longestQueryMs),
    LISTING_SECONDS: String(listingSeconds),
    FINAL_AFTER_HOURS: String(FINAL_AFTER_HOURS),
    MAX_BYTES_SCANNED: `${gigabytes}000000000`,
  });
}
