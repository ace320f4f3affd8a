import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { scopeOf } from '../access/verify-token.ts';
import type { FunctionDependencies } from '../http/function-dependencies.ts';
import { problemChain } from '../http/problem-chain.ts';
import { requestHeader } from '../http/request-header.ts';
import { pathOf } from '../routes.ts';
import { openApiDocument } from './document.ts';

/** GET /openapi.json: the service in OpenAPI 3.1, with the URL at which this caller reached it. Needs no token. */
export function openApiHandler(dependencies: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'>) {
  const { config } = dependencies;
  return problemChain(dependencies).handler(
    async (event): Promise<APIGatewayProxyResult> => ({
      statusCode: 200,
      headers: {
        'Content-Type': 'application/json',
        // Shared caches must not store the document, because it holds the URL at which this caller reached the service.
        'Cache-Control': 'private, max-age=300',
        // The gateway gzips the body for callers that accept gzip.
        Vary: 'Accept-Encoding',
      },
      body: JSON.stringify(
        openApiDocument({
          url: serviceUrl(event, pathOf('openapi')) ?? '/',
          scope: scopeOf(config.token),
          commit: config.commit,
        }),
      ),
    }),
  );
}

const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i;
const DEFAULT_PORT: Readonly<Record<string, string>> = { http: '80', https: '443' };

/**
 * The service's URL, as this caller sees it: scheme, host, and the base path of a stage or a custom domain. The host is
 * the one that the gateway serves, never the caller's Host header. Scheme and port come from headers, if valid.
 * Undefined if the gateway names no valid host, or a path that does not end with `route`.
 *
 * @param route the path of the route that the caller asked for
 */
export function serviceUrl(event: APIGatewayProxyEvent, route: string): string | undefined {
  const { domainName, path } = event.requestContext;
  if (domainName === undefined || !HOST.test(domainName) || !path.endsWith(route)) return undefined;
  const scheme = requestHeader(event, 'x-forwarded-proto') === 'http' ? 'http' : 'https';
  const port = /^\d{1,5}$/.exec(requestHeader(event, 'x-forwarded-port') ?? '')?.[0];
  const explicitPort = port === undefined || port === DEFAULT_PORT[scheme] ? '' : `:${port}`;
  return `${scheme}://${domainName}${explicitPort}${path.slice(0, -route.length)}`;
}
