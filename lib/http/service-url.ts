import type { APIGatewayProxyEvent } from 'aws-lambda';
import { requestHeader } from './request-header.ts';

const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i;
const DEFAULT_PORT: Readonly<Record<string, string>> = { http: '80', https: '443' };

/**
 * Where the service is, as this caller sees it: scheme, host, and whatever stands before the route, a stage or a
 * custom domain's base path. The host is the one that the gateway serves, never the caller's Host header; scheme
 * and port come from headers, as far as they are valid. Undefined where the gateway names no host.
 *
 * @param route the path of the route that was asked
 */
export function serviceUrl(event: APIGatewayProxyEvent, route: string): string | undefined {
  const { domainName, path } = event.requestContext;
  if (domainName === undefined || !HOST.test(domainName) || !path.endsWith(route)) return undefined;
  const scheme = requestHeader(event, 'x-forwarded-proto') === 'http' ? 'http' : 'https';
  const port = /^\d{1,5}$/.exec(requestHeader(event, 'x-forwarded-port') ?? '')?.[0];
  const explicitPort = port === undefined || port === DEFAULT_PORT[scheme] ? '' : `:${port}`;
  return `${scheme}://${domainName}${explicitPort}${path.slice(0, -route.length)}`;
}
