import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import type { InvokeVersion, StackAnswer, StackEvent, stackAnswerer } from '../aws/release-calls.ts';
import type { LineLog } from '../http/request-log.ts';
import { GATE, PROBE_ENV } from '../names.ts';
import { HEADER } from '../response-headers.ts';
import { routes } from '../routes.ts';
import { type ProbeParts, readProbeConfig, serviceProbe, TableMissing } from './pull-report.ts';

/** The check ends before its function times out (`lib/function-settings.ts`), so that CloudFormation gets an answer. */
const LONGEST_CHECK_MS = 280_000;
/** The longest that all versions together may take to answer. The token and the report have 90 s each. */
const LONGEST_ASKING_MS = 100_000;
/** CloudFormation takes answers of 4,096 bytes. */
const LONGEST_REASON = 1_000;

const text = v.pipe(v.string(), v.nonEmpty());
const gateProperties = v.object({ [GATE.release]: text, [GATE.versions]: v.record(v.string(), text) });

/** CloudFormation sends every value as text. */
type Properties = Readonly<Record<string, unknown>>;

export interface GateEvent extends StackEvent {
  readonly ResourceProperties: Properties;
  readonly OldResourceProperties?: Properties;
}

export interface CheckParts extends Pick<ProbeParts, 'fetch' | 'readSecret' | 'now'> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly invoke: InvokeVersion;
}

/**
 * Makes the check of a release, which calls its versions directly, before any alias moves. Each must answer with the
 * release's name. Then, if the stage has a probe, they must deliver a report of yesterday to the probe's client. Resolves
 * to what was checked; throws an Error that names the first fault.
 */
export const releaseChecker =
  ({ env, invoke, fetch, readSecret, now }: CheckParts) =>
  async (properties: Properties): Promise<string> => {
    const { Release: release, Versions: versions } = v.parse(gateProperties, properties);
    const service = { serviceUrl: env[PROBE_ENV.serviceUrl] ?? '', versions, invoke };
    await askEach(service, release);
    const answered = `checked: ${Object.keys(versions).length} functions answer with ${release}`;
    const unpulled = `${answered}; no report was pulled, because the`;
    if (env[PROBE_ENV.tokenUrl] === undefined) return `${unpulled} stage has no probe`;
    // The window begins some seconds after midnight, another number for each release. A report from the cache would
    // prove neither queries nor files.
    const digest = createHash('sha256').update(JSON.stringify(versions)).digest();
    const secondsLate = 1 + (digest.readUInt16BE() % 3_600);
    const ask = fetchFromVersions({ ...service, fetch });
    const probe = serviceProbe({ config: readProbeConfig(env), fetch: ask, readSecret, now, secondsLate });
    try {
      return `${answered}; a report was pulled, with rows: ${await probe.pull()}`;
    } catch (error) {
      if (error instanceof TableMissing) return `${unpulled} lake has no events yet`;
      throw error;
    }
  };

/**
 * Serves the custom resource between new versions and their aliases (`addReleaseGate`). CloudFormation always gets an
 * answer. After FAILED, it takes the deployment back, and updates the gate again, to the properties of before: that must
 * pass, even if nothing works.
 */
export function releaseGate({
  check,
  answer,
  log,
  longestCheckMs = LONGEST_CHECK_MS,
}: {
  readonly check: (properties: Properties) => Promise<string>;
  readonly answer: ReturnType<typeof stackAnswerer>;
  readonly log: LineLog;
  readonly longestCheckMs?: number;
}) {
  const judge = async (event: GateEvent): Promise<string> => {
    const reason = whyUnchecked(event);
    if (reason !== undefined) return `not checked: ${reason}`;
    const late = once(AbortSignal.timeout(longestCheckMs), 'abort').then(() => {
      throw new Error('The check has not ended in time');
    });
    return Promise.race([check(event.ResourceProperties), late]);
  };
  return async (event: GateEvent): Promise<void> => {
    const began = Date.now();
    const facts = () => ({ requestType: event.RequestType, durationMs: Date.now() - began });
    const verdict = await judge(event).then(
      (outcome): StackAnswer => {
        log.info('release-check', { ...facts(), outcome });
        return { Status: 'SUCCESS', Reason: outcome, Data: { [GATE.outcome]: outcome } };
      },
      (error: unknown): StackAnswer => {
        log.error('release-check', { ...facts(), error });
        const fault = error instanceof Error ? error.message : String(error);
        const reason = `${event.ResourceProperties[GATE.release]} is refused, and no alias has moved: ${fault}`;
        return { Status: 'FAILED', Reason: reason.slice(0, LONGEST_REASON), Data: {} };
      },
    );
    await answer(event, verdict);
  };
}

/** Why a deployment passes without a check. Undefined if it must be checked. */
function whyUnchecked(event: GateEvent): string | undefined {
  const { RequestType, ResourceProperties: now, OldResourceProperties: before = {} } = event;
  if (RequestType === 'Delete') return 'the gate is removed';
  if (RequestType === 'Create')
    return 'this deployment made the gate, and may have no partner yet who could pull a report. The next one is checked';
  const versions = versionsIn(before);
  const steps = [...versionsIn(now)].map(([name, number]) => number - (versions.get(name) ?? 0));
  // Lambda gives no number twice, so a lower one is a version of before.
  if (steps.some((step) => step < 0)) return `CloudFormation goes back to ${now[GATE.release]}`;
  if (now[GATE.isOpen] === 'true') return 'it was deployed with -c gate=open';
  return steps.some((step) => step > 0) ? undefined : 'there is no new version';
}

const versionsIn = (properties: Properties): ReadonlyMap<string, number> => {
  const arns = Object.entries(properties[GATE.versions] ?? {});
  return new Map(arns.map(([name, arn]) => [name, Number(String(arn).split(':').at(-1))]));
};

interface VersionedService {
  readonly serviceUrl: string;
  /** ARNs of the versions to ask, by the function's name. */
  readonly versions: Readonly<Record<string, string>>;
  readonly invoke: InvokeVersion;
  /** For URLs outside the service: the identity provider, the report's file. */
  readonly fetch: typeof globalThis.fetch;
}

/** A `fetch` that invokes these versions, live or not, and follows redirects. Throws without a version. */
export const fetchFromVersions = ({ serviceUrl, versions, invoke, fetch }: VersionedService) =>
  (async (target, init) => {
    let url = new URL(String(target));
    if (!isBelow(serviceUrl, url)) return fetch(url, init);
    const headers = new Headers(init?.headers);
    // Only requests to the service carry these headers, because the headers hold the token.
    while (isBelow(serviceUrl, url)) {
      init?.signal?.throwIfAborted();
      // Not the length of serviceUrl's own path: a URL without a path has the path "/".
      const below = url.pathname.slice(serviceUrl.length - url.origin.length);
      const { functionName, pathParameters } = routeOf(below);
      const version = versions[functionName];
      if (version === undefined) throw new Error(`There is no version of ${functionName} to ask`);
      const answer = await invoke(version, eventOf(url, headers, pathParameters), init?.signal);
      const location = answer.headers?.['Location'];
      if (answer.statusCode !== 303 || location === undefined)
        return new Response(answer.body, { status: answer.statusCode });
      url = new URL(String(location), url);
    }
    return fetch(url, { signal: init?.signal ?? null });
  }) satisfies typeof globalThis.fetch;

const isBelow = (serviceUrl: string, { href }: URL): boolean => href.startsWith(`${serviceUrl}/`);

/** Asks the versions one by one, without a token: so a stage with few executions can answer its callers too. */
async function askEach(
  { serviceUrl, versions, invoke }: Omit<VersionedService, 'fetch'>,
  release: string,
): Promise<void> {
  const signal = AbortSignal.timeout(LONGEST_ASKING_MS);
  for (const [name, arn] of Object.entries(versions)) {
    // The function for paths without a route is asked at a path of another one.
    const path = routes.find(({ functionName }) => functionName === name)?.path ?? '/';
    const { headers } = await invoke(arn, eventOf(new URL(serviceUrl + path), new Headers(), {}), signal);
    const answered = headers?.[HEADER.version];
    if (answered !== release) throw new Error(`${name} answers with ${answered ?? 'no release'}`);
  }
}

function routeOf(path: string) {
  for (const { path: pattern, functionName } of routes) {
    const match = RegExp(`^${pattern.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`).exec(path);
    if (match) return { functionName, pathParameters: { ...match.groups } };
  }
  throw new Error(`No route leads to ${path}`);
}

/** API Gateway's event: only the members that the functions read. */
function eventOf(url: URL, headers: Headers, pathParameters: Record<string, string>): APIGatewayProxyEvent {
  const { pathname: path, hostname: domainName, searchParams } = url;
  return {
    httpMethod: 'GET',
    path,
    multiValueHeaders: Object.fromEntries([...headers].map(([name, value]) => [name, [value]])),
    multiValueQueryStringParameters: Object.fromEntries(
      [...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]),
    ),
    pathParameters,
    requestContext: { path, domainName, requestId: crypto.randomUUID(), requestTimeEpoch: Date.now() },
  } as unknown as APIGatewayProxyEvent;
}
