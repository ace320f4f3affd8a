import type { APIGatewayProxyEvent } from 'aws-lambda';
import Negotiator from 'negotiator';

/** A header's values, joined as in HTTP. API Gateway keeps names as the caller wrote them. */
export function requestHeader({ multiValueHeaders }: APIGatewayProxyEvent, name: string): string | undefined {
  const values = Object.entries(multiValueHeaders ?? {}).flatMap(([key, values]) =>
    key.toLowerCase() === name ? (values ?? []) : [],
  );
  return values.length > 0 ? values.join(', ') : undefined;
}

/** Whether `Accept-Encoding` allows gzip (RFC 9110, 12.5.3). Without the header it does not. */
export const acceptsGzip = (acceptEncoding: string | undefined): boolean =>
  acceptEncoding !== undefined &&
  new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings(['gzip']).includes('gzip');

const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i;

/** A path of plain segments, such as a stage. It never begins with `//`, which would name a host. */
const PLAIN_PATH = /^(?:\/[\w.~-]+)*$/;

/**
 * What the request's path has before its route: the base path of a stage or a custom domain, without a final slash.
 * Undefined if the path does not end with its route, or if the base has other characters than plain ones.
 */
export function basePath(event: APIGatewayProxyEvent): string | undefined {
  const { resource = '', pathParameters, requestContext } = event;
  const route = resource.replaceAll(/\{(\w+)\+?\}/g, (_, name) => pathParameters?.[name] ?? '');
  if (route === '') return undefined;
  const path = route === '/' ? requestContext.path.replace(/\/?$/, '/') : requestContext.path;
  const base = path.slice(0, -route.length);
  return path.endsWith(route) && PLAIN_PATH.test(base) ? base : undefined;
}

/**
 * The service's URL, as this caller sees it. The host is the one that the gateway serves, never the Host header;
 * scheme and port come from headers. Undefined without a valid host and port, or without a base path.
 */
export function serviceUrl(event: APIGatewayProxyEvent): string | undefined {
  const { domainName } = event.requestContext;
  const base = basePath(event);
  if (domainName === undefined || !HOST.test(domainName) || base === undefined) return undefined;
  const scheme = requestHeader(event, 'x-forwarded-proto') === 'http' ? 'http' : 'https';
  const port = /^\d{1,5}$/.exec(requestHeader(event, 'x-forwarded-port') ?? '')?.[0] ?? '';
  // An origin has no port if it is the scheme's own.
  const origin = URL.parse(`${scheme}://${domainName}:${port}`)?.origin;
  return origin && origin + base;
}
