import { setTimeout as delay } from 'node:timers/promises';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { Claims } from '../../../lib/access/claims.ts';
import type { PartnerRecord, Register } from '../../../lib/access/partner-record.ts';
import { type Config, readConfig } from '../../../lib/config.ts';
import type { FunctionDependencies } from '../../../lib/http/function-dependencies.ts';
import type { MetricSink } from '../../../lib/http/request-log.ts';
import { NoRecords, NotAuthorized, Overloaded, Unauthenticated } from '../../../lib/problems/problem.ts';
import { byOwner } from '../../../lib/report/catalogue.ts';
import { LEAST_ENVIRONMENT } from '../../least-environment.ts';
import type { Plan } from '../delivery/memory-queries.ts';
import { setting } from '../delivery/setting.ts';

/** One line of the log. */
interface Line {
  readonly level: 'info' | 'error';
  readonly message: string;
  readonly facts: Record<string, unknown>;
}

/** A function's dependencies in memory, and the log lines, metrics and deadlines that a test checks. */
export function functionSetting(env: Record<string, string> = {}, ...plans: Plan[]) {
  const delivery = setting(...plans);
  const lines: Line[] = [];
  /** The sum of the values that were added to each metric. */
  const metrics: Record<string, number> = {};
  /** For each set of backends, the deadline of its calls. */
  const untils: number[] = [];
  /** For each set of backends, the facts of its request: throttled starts are counted there. */
  const factsOfBackends: (object | undefined)[] = [];
  /** The register of partners, by client. */
  const partners = new Map<string, PartnerRecord>();
  const register: { find: Register['find'] } = { find: async (client) => partners.get(client) };
  const config: Config = readConfig({ ...LEAST_ENVIRONMENT, ...env });
  const sink = {
    addMetric: (name: string, _unit: string, value: number) => {
      metrics[name] = (metrics[name] ?? 0) + value;
    },
    publishStoredMetrics: () => {},
  };
  const dependencies: FunctionDependencies = {
    config,
    log: {
      info: (message, facts) => void lines.push({ level: 'info', message, facts }),
      error: (message, facts) => void lines.push({ level: 'error', message, facts }),
    },
    metrics: sink as unknown as MetricSink,
    backendsUntil: (until, facts) => {
      untils.push(until);
      factsOfBackends.push(facts);
      return { ...delivery.backends, register };
    },
  };
  return { ...delivery, dependencies, lines, metrics, untils, factsOfBackends, config, partners, register };
}
type FunctionSetting = ReturnType<typeof functionSetting>;

export const SECRET = 'secret-of-the-caller';

/** The settings of a stage with a register of partners. */
export const BY_REGISTER = { ENTITLEMENTS: 'partners', PARTNERS_BUCKET: 'register' };

/** The settings of a stage in which a claim says whose rows a caller sees. */
const COMPANY_CLAIMS = '{"publisherCompanies":{"claim":"companies"}}';
export const BY_CLAIMS = { ENTITLEMENTS: 'claims', COMPANY_CLAIMS, EVERY_COMPANY_VALUE: 'all' };

/** A verifier that takes the token SECRET, with these claims, and refuses every other. */
export const tokenOf = (claims: Claims) => async (authorization: string | undefined) => {
  if (authorization === 'Bearer without-scope') throw new NotAuthorized('scope', 'first-partner');
  if (authorization !== `Bearer ${SECRET}`) throw new Unauthenticated('The token is no good.');
  return claims;
};

/** An active partner with two publisher companies, as the register has it. */
const since = '2026-01-01T00:00:00Z';
export const PARTNER: PartnerRecord = {
  ...{ form: 1, client: 'client-1', name: 'first-partner', ...byOwner(() => []) },
  ...{ publisherCompanies: ['7', '9'], contact: 'reports@partner.example', since, active: true },
};

interface Request {
  readonly path: string;
  readonly headers?: Record<string, string[]>;
  readonly parameters?: Record<string, string[]>;
  readonly pathParameters?: Record<string, string>;
  /** When the request came to the gateway; if absent, the time at which it came to the function. */
  readonly requestTimeEpoch?: number;
}

/** A request as API Gateway passes it to the function. Its Authorization header holds SECRET, which no log may show. */
export function requestEvent(of: Request): APIGatewayProxyEvent {
  const { path, headers, parameters = null, pathParameters = null, requestTimeEpoch = Date.now() } = of;
  const [named, domainName] = [Object.entries(pathParameters ?? {}), 'api.example'];
  return {
    ...{ httpMethod: 'GET', path, pathParameters, multiValueQueryStringParameters: parameters },
    resource: named.reduce((text, [name, value]) => text.replace(value, `{${name}}`), path),
    multiValueHeaders: { Authorization: [`Bearer ${SECRET}`], Accept: ['text/csv'], ...headers },
    requestContext: { requestId: 'request-1', path: `/prod${path}`, domainName, requestTimeEpoch },
  } as unknown as APIGatewayProxyEvent;
}

/** Calls a handler as Lambda does. */
export const invoke = (handler: unknown, event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
  const context = { awsRequestId: 'invocation-1', getRemainingTimeInMillis: () => 28_000 };
  return (handler as (...given: unknown[]) => Promise<APIGatewayProxyResult>)(event, context);
};

export const request = (handler: unknown, parts: Request) => invoke(handler, requestEvent(parts));

const throttled = new Error('S3 GetObject failed: SlowDown, status 503');

/**
 * How a listing fails, before the register's answer or after it, and the status for a caller without a ticket. `fail`
 * makes it fail so.
 */
export const FAILED_LISTINGS = [
  { error: new NoRecords('Any report'), status: 404 },
  { error: new Overloaded('Later.', 30, { cause: throttled }), status: 503 },
  { error: new Error('boom'), status: 500 },
].flatMap(({ error, status }) =>
  [true, false].map((isFirst) => ({
    status,
    why: `${status}, ${isFirst ? 'before' : 'after'} the register’s answer`,
    fail({ lake, register }: Pick<FunctionSetting, 'lake' | 'register'>) {
      const { find } = register;
      register.find = (client) => delay(isFirst ? 50 : 0).then(() => find(client));
      lake.list = () => delay(isFirst ? 0 : 50).then(() => Promise.reject(error));
    },
  })),
);

/** Makes the register slow. Gives how often the lake has been listed at the time of the register's answer. */
export function slowRegister({ lake, register }: Pick<FunctionSetting, 'lake' | 'register'>): number[] {
  const looks: number[] = [];
  register.find = async () => {
    await delay(10);
    looks.push(lake.looks.length);
    return PARTNER;
  };
  return looks;
}
