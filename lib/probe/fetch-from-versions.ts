import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { InvokeVersion } from '../aws/release-calls.ts';
import { VERSION_HEADER } from '../response-headers.ts';
import { routes } from '../routes.ts';

export interface VersionedService {
  /** The service's URL, without a slash at its end. */
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

/**
 * Asks each version once, without a token: one after the other, so that a stage with few executions can answer its
 * callers too. Throws an Error that names the first function that can't start or does not answer with this release.
 */
export async function askEach(
  { serviceUrl, versions, invoke }: Omit<VersionedService, 'fetch'>,
  release: string,
  signal: AbortSignal,
): Promise<void> {
  for (const [name, arn] of Object.entries(versions)) {
    // The function for paths without a route is asked at a path of another one.
    const path = routes.find(({ functionName }) => functionName === name)?.path ?? '/';
    const { headers } = await invoke(arn, eventOf(new URL(serviceUrl + path), new Headers(), {}), signal);
    const answered = headers?.[VERSION_HEADER];
    if (answered !== release) throw new Error(`${name} answers with ${answered ?? 'no release'}`);
  }
}

/** The function that a path below the service's URL leads to. Throws if no route has this path. */
function routeOf(path: string) {
  for (const { path: pattern, functionName } of routes) {
    const found = RegExp(`^${pattern.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`).exec(path);
    if (found) return { functionName, pathParameters: { ...found.groups } };
  }
  throw new Error(`No route leads to ${path}`);
}

/** The event that API Gateway sends a function: only the members that the functions read. */
function eventOf(url: URL, headers: Headers, pathParameters: Record<string, string>): APIGatewayProxyEvent {
  const names = [...new Set(url.searchParams.keys())];
  return {
    httpMethod: 'GET',
    path: url.pathname,
    multiValueHeaders: Object.fromEntries([...headers].map(([name, value]) => [name, [value]])),
    multiValueQueryStringParameters: Object.fromEntries(
      names.map((name) => [name, url.searchParams.getAll(name)]),
    ),
    pathParameters,
    requestContext: {
      path: url.pathname,
      domainName: url.hostname,
      requestId: crypto.randomUUID(),
      requestTimeEpoch: Date.now(),
    },
  } as unknown as APIGatewayProxyEvent;
}
