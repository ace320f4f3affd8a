import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';

/**
 * The event that API Gateway's REST proxy integration passes to a function. Parameters are decoded. Header names keep
 * the caller's case.
 */
export function proxyEvent(
  request: IncomingMessage,
  { path, query: parameters }: RequestTarget,
  requestId: string,
  resource: string,
  pathParameters: Record<string, string> | null,
): APIGatewayProxyEvent {
  const headers = requestHeaders(request);
  const names = new Set(parameters.keys());
  const query = Object.fromEntries([...names].map((name) => [name, parameters.getAll(name)]));
  const now = Date.now();
  return {
    resource,
    path,
    httpMethod: request.method ?? 'GET',
    headers: lastOfEach(headers),
    multiValueHeaders: headers,
    queryStringParameters: parameters.size > 0 ? lastOfEach(query) : null,
    multiValueQueryStringParameters: parameters.size > 0 ? query : null,
    pathParameters,
    stageVariables: null,
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      authorizer: null,
      domainName: request.socket.localAddress ?? '',
      protocol: 'HTTP/1.1',
      httpMethod: request.method ?? 'GET',
      path,
      stage: 'local',
      requestId,
      requestTimeEpoch: now,
      requestTime: new Date(now).toISOString(),
      resourceId: resource,
      resourcePath: resource,
      // The functions read no other member.
      identity: {
        sourceIp: request.socket.remoteAddress ?? '',
        userAgent: request.headers['user-agent'] ?? null,
      } as APIGatewayProxyEvent['requestContext']['identity'],
    },
    body: null,
    isBase64Encoded: false,
  };
}

const lastOfEach = (values: Record<string, string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list.at(-1) ?? '']));

/**
 * All values of each header. A header's name has the case that the caller used first: API Gateway keeps the case. Two
 * headers are the gateway's own, which replace the caller's.
 */
function requestHeaders({ rawHeaders, socket }: IncomingMessage): Record<string, string[]> {
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && !/^x-forwarded-(proto|port)$/i.test(name) ? [[name, rawHeaders[index + 1] ?? '']] : [],
  );
  const own = [
    ['X-Forwarded-Proto', 'http'],
    ['X-Forwarded-Port', String(socket.localPort)],
  ];
  const byName = Map.groupBy([...pairs, ...own], ([name = '']) => name.toLowerCase());
  return Object.fromEntries(
    [...byName.values()].map((same) => [same[0]?.[0] ?? '', same.map(([, value = '']) => value)]),
  );
}

/** The URL of a request line, as API Gateway reads it. */
export interface RequestTarget {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Whether API Gateway refuses the query: it has a raw character that must be encoded, or broken encoding. */
  readonly isRefused: boolean;
}

// A percent sign without two hexadecimal digits is refused too (https://github.com/adamchainz/apig-wsgi/pull/102).
// Bytes that are not UTF-8, such as %FF, become U+FFFD and are passed on.
const REFUSED = /[|{}]|%(?![0-9a-f]{2})/i;

/**
 * Reads a query as REST APIs do: a raw `;` splits it as `&` does, and raw `|`, `{` and `}` are refused
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html).
 */
export function requestTarget(url: string | undefined): RequestTarget {
  const [target = ''] = (url ?? '').split('#', 1);
  const end = target.includes('?') ? target.indexOf('?') : target.length;
  const query = target.slice(end + 1);
  return {
    path: new URL(`http://127.0.0.1${target.slice(0, end)}`).pathname,
    query: new URLSearchParams(query.replaceAll(';', '&')),
    isRefused: REFUSED.test(query),
  };
}
