import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { athenaQueries } from '../../lib/aws/athena-queries.ts';
import { readConfig } from '../../lib/config.ts';
import { PUBLISH_TIMEOUT_SECONDS, QUERY_WAIT_MS, settingsOf } from '../../lib/function-settings.ts';
import { downloadsHandler } from '../../lib/http/downloads-handler.ts';
import type { FunctionDependencies } from '../../lib/http/function-dependencies.ts';
import { publicationHandler } from '../../lib/http/publication-handler.ts';
import { reportHandler } from '../../lib/http/report-handler.ts';
import { gatewayProblems } from '../../lib/problems/gateway-problems.ts';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { downloadPath } from '../../lib/routes.ts';
import { tokenBucket } from '../../local/token-bucket.ts';
import { LEAST_ENVIRONMENT } from '../../test/least-environment.ts';
import type { VirtualTime } from '../../test/worlds/virtual-time.ts';
import type { ModelledAthena } from './modelled-athena.ts';
import type { ModelledLambda } from './modelled-lambda.ts';
import type { ModelledS3 } from './modelled-s3.ts';
import type { Quotas } from './quotas.ts';

interface Answer {
  readonly status: number;
  readonly location?: string;
  readonly retryAfterSeconds?: number;
}

/** The deployed service: firewall, gateway, and the service's own handlers in modelled functions. */
export interface ModelledService {
  token(): Promise<boolean>;
  /** @param url a path with its query */
  get(url: string, partner: number): Promise<Answer>;
  /** Runs the publishing function for the object `key`, as EventBridge does when the object is created. */
  publish(key: string): Promise<void>;
  /** Requests that passed the gateway. */
  readonly admitted: () => number;
}

export interface ServiceSettings {
  readonly longestQuerySeconds: number;
  readonly underWayPerPartner: number;
}

/** AWS WAF counts the requests that an address sends within this time. */
const FIREWALL_MS = 300_000;
/** AWS WAF updates its count this often. */
const FIREWALL_STEP_MS = 10_000;

/** What API Gateway and the network add to a request, in milliseconds. Assumed. */
const GATEWAY_MS = 25;

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

export function modelledService(
  time: VirtualTime,
  quotas: Quotas,
  { longestQuerySeconds, underWayPerPartner }: ServiceSettings,
  { s3, athena, lambda }: { s3: ModelledS3; athena: ModelledAthena; lambda: ModelledLambda },
): ModelledService {
  const config = readConfig({
    ...LEAST_ENVIRONMENT,
    QUERY_WAIT_MS: String(QUERY_WAIT_MS),
    LONGEST_QUERY_MS: String(longestQuerySeconds * 1_000),
    QUERIES_PER_PARTNER: String(underWayPerPartner),
  });
  const dependencies: FunctionDependencies = {
    config,
    log: { info: () => {}, error: () => {} },
    metrics: {
      addMetric: () => {},
      publishStoredMetrics: () => {},
    } as unknown as FunctionDependencies['metrics'],
    backendsUntil: (until) => ({
      queries: athenaQueries(athena.client, { database: 'reports', workgroup: 'reports' }, until),
      results: s3.results(until),
      lake: s3.lake(until),
      register: { find: async () => undefined },
    }),
  };
  const verifyToken = async (header: string | undefined) => ({ client_id: header?.slice('Bearer '.length) });
  const handlers: Readonly<Record<string, Handler>> = {
    [publisherReport.name]: reportHandler(publisherReport, {
      ...dependencies,
      verifyToken,
    }) as unknown as Handler,
    downloads: downloadsHandler(dependencies) as unknown as Handler,
  };
  const admits = new Map(
    [...quotas.methods].map(([method, { requestsPerSecond, burst }]) => [
      method,
      tokenBucket({ perSecond: requestsPerSecond, burst }, time.now),
    ]),
  );
  const publishes = publicationHandler({ ...dependencies, largeFilesUntil: s3.results });
  const context = { getRemainingTimeInMillis: () => PUBLISH_TIMEOUT_SECONDS * 1_000 };
  const issues = tokenBucket(quotas.tokens, time.now);
  const firewallAdmits = addressLimit(quotas.requestsPerAddress, time.now);
  let admitted = 0;
  let requests = 0;

  return {
    admitted: () => admitted,
    async token() {
      await time.delay(GATEWAY_MS);
      return issues();
    },
    async get(url, partner) {
      await time.delay(GATEWAY_MS);
      if (!firewallAdmits(partner)) return { status: 429, retryAfterSeconds: FIREWALL_MS / 1_000 };
      const { throttled, functionFailed } = gatewayProblems;
      const { pathname, searchParams } = new URL(url, 'https://reports.example');
      const [, , route = '', ticket = '', hop = ''] = pathname.split('/');
      const isHop = pathname === downloadPath(ticket, hop);
      if (!admits.get(`${isHop ? downloadPath('{ticket}', '{hop}') : pathname}/GET`)?.())
        return { status: throttled.status, retryAfterSeconds: throttled.retryAfterSeconds };
      admitted += 1;
      const parameters = Object.fromEntries(
        [...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)]),
      );
      const event = {
        httpMethod: 'GET',
        path: pathname,
        multiValueHeaders: { Authorization: [`Bearer partner-${partner}`], Accept: ['text/csv'] },
        multiValueQueryStringParameters: parameters,
        pathParameters: isHop ? { ticket, hop } : null,
        requestContext: { requestId: `r${++requests}`, path: pathname },
      } as unknown as APIGatewayProxyEvent;
      const result = await lambda.invoke(route, settingsOf(route).memoryMb, () =>
        (handlers[route] as Handler)(event, {} as Context),
      );
      // Lambda has throttled the call; API Gateway answers that as an integration failure.
      if (!result) return { status: functionFailed.status };
      const { Location: location, 'Retry-After': retryAfter } = (result.headers ?? {}) as Record<
        string,
        string
      >;
      return {
        status: result.statusCode,
        ...(location !== undefined && { location }),
        ...(retryAfter !== undefined && { retryAfterSeconds: Number(retryAfter) }),
      };
    },
    async publish(key) {
      for (let pauseMs = FIRST_RETRY_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_RETRY_MS)) {
        const done = await lambda.invoke('publish', settingsOf('publish').memoryMb, async () => {
          await publishes({ detail: { object: { key } } }, context);
          return true;
        });
        if (done) return;
        await time.delay(pauseMs);
      }
    },
  };
}

/** Lambda tries a throttled event again after this time. Each further pause is twice as long as the one before. */
const FIRST_RETRY_MS = 1_000;
/** No pause between two tries is longer than this. */
const LONGEST_RETRY_MS = 300_000;

/** AWS WAF's limit for each address. Each partner has an address of its own. */
function addressLimit(limit: number, now: () => number): (address: number) => boolean {
  const seen = new Map<number, Map<number, number>>();
  return (address) => {
    const step = Math.floor(now() / FIREWALL_STEP_MS);
    const counts = seen.get(address) ?? new Map<number, number>();
    seen.set(address, counts);
    for (const old of counts.keys()) if ((step - old) * FIREWALL_STEP_MS >= FIREWALL_MS) counts.delete(old);
    counts.set(step, (counts.get(step) ?? 0) + 1);
    // AWS WAF sees a step's requests only when the step has ended.
    const counted = [...counts].reduce((sum, [at, count]) => sum + (at < step ? count : 0), 0);
    return counted < limit;
  };
}
