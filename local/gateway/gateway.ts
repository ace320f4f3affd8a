import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { acceptsGzip } from '../../lib/http/request-header.ts';
import {
  type GatewayProblem,
  gatewayProblems,
  requestTooLarge,
} from '../../lib/problems/gateway-problems.ts';
import { PROBLEM_MEDIA_TYPE, problemDocument } from '../../lib/problems/problem.ts';
import { COMMON_HEADERS, headerAsDelivered } from '../../lib/response-headers.ts';
import { MIN_GZIP_BYTES } from '../../lib/routes.ts';
import { type Listener, serve } from '../serve.ts';
import { type CallRate, tokenBucket } from '../token-bucket.ts';
import type { Admission, Purpose } from './admission.ts';
import { FunctionFailed, failureLine, type Log, type Sandbox, toStderr } from './lambda.ts';
import { proxyEvent, requestTarget } from './proxy-event.ts';

export interface Route {
  readonly methods: readonly string[];
  /** The path, with parameters in braces: `/reporting/downloads/{ticket}/{hop}`. */
  readonly path: string;
  readonly sandbox: Sandbox;
  /** The purpose of the route's requests, for admission. Without a purpose, the requests are always admitted. */
  readonly purpose?: Purpose | undefined;
}

export interface GatewayOptions {
  /** The stage's throttling. Without it, there is no limit. */
  readonly throttling?: CallRate | undefined;
  /** Decides which requests are let in. Without it, all requests are. */
  readonly admission?: Admission | undefined;
  /** The function for requests that no route takes, like `{proxy+}` with `ANY`. Without it, the gateway answers. */
  readonly notFound?: Sandbox;
  /** Whether pages of other origins may read the gateway's own answers. */
  readonly isForPages?: boolean;
  /** Answers paths that only this machine has. Resolves to whether it has answered. */
  readonly answerLocalPath?: (
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ) => Promise<boolean>;
  readonly log?: Log | undefined;
}

/** API Gateway's limit for the request line and the headers together. */
const MAX_REQUEST_HEAD_BYTES = 10_240;

/**
 * Passes each request to its route's function, as API Gateway's REST proxy integration does. Listens on loopback.
 * Rejects with the system's error if the port can't be opened.
 *
 * @param port 0 takes a free port
 */
export async function startGateway(
  routes: readonly Route[],
  port: number,
  {
    throttling,
    admission,
    notFound,
    isForPages = false,
    answerLocalPath = async () => false,
    log = toStderr,
  }: GatewayOptions = {},
): Promise<Listener> {
  const isAdmitted = throttling ? tokenBucket(throttling) : () => true;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const requestId = randomUUID();
    response.setHeader('x-amzn-requestid', requestId);
    request.resume();
    const answer = (problem: Omit<GatewayProblem, 'responseType'>) => {
      if (isForPages) response.setHeader('access-control-allow-origin', '*');
      const { retryAfterSeconds: seconds } = problem;
      if (seconds !== undefined) response.setHeader('retry-after', String(seconds));
      const own = { 'content-type': PROBLEM_MEDIA_TYPE, 'cache-control': 'no-store', ...COMMON_HEADERS };
      response.writeHead(problem.status, own).end(JSON.stringify(problemDocument(problem, requestId)));
    };
    const target = requestTarget(request.url);
    // API Gateway refuses such a request before it reaches the API. The answer is therefore no problem document.
    if (target.isRefused) return response.writeHead(400).end();
    if (!isAdmitted()) return answer(gatewayProblems.throttled);
    const [found, pathParameters] = routeOf(routes, request.method, target.path);
    if (!found && (await answerLocalPath(request, response, target.path).catch(() => false))) return;
    const route = found ?? (notFound && { path: '/{proxy+}', sandbox: notFound, purpose: undefined });
    if (!route) return answer(gatewayProblems.notFound);
    // The event is made before admission, so that its request time is the time of arrival.
    const event = proxyEvent(request, target, requestId, route.path, pathParameters);
    const refusal = route.purpose && (await admission?.enter(route.purpose));
    if (refusal) return answer({ ...busy, ...refusal });
    // The caller has disconnected meanwhile.
    if (response.destroyed) return;
    try {
      send(response, (await route.sandbox.invoke(event)) as APIGatewayProxyResult);
    } catch (error) {
      const timedOut = error instanceof FunctionFailed && error.timedOut;
      log(failureLine(route.path, error));
      answer(gatewayProblems[timedOut ? 'functionTimedOut' : 'functionFailed']);
    }
  };
  return serve(handle, {
    port,
    // Proxies and containers call the gateway by other names. It gives nothing to a request without a token.
    hasAnyName: true,
    maxHeaderSize: MAX_REQUEST_HEAD_BYTES,
    refusalOf: ({ code }) => (code === 'HPE_HEADER_OVERFLOW' ? tooLarge : undefined),
  });
}

const tooLargeBody = JSON.stringify(requestTooLarge.body);
const tooLarge = [
  `HTTP/1.1 ${requestTooLarge.status} Content Too Large`,
  'Connection: close',
  `Content-Type: ${requestTooLarge.mediaType}`,
  `Content-Length: ${Buffer.byteLength(tooLargeBody)}`,
  `\r\n${tooLargeBody}`,
].join('\r\n');

/** The problem for requests that admission refuses. AWS has no counterpart: it scales instead. */
const busy = {
  status: 503,
  slug: 'unavailable',
  title: 'Service unavailable',
  detail: 'The service has more to do than it can. Request the report again later.',
} as const;

/** The route that takes the request, and the decoded values of its path parameters. */
function routeOf(
  routes: readonly Route[],
  method: string | undefined,
  path: string,
): [Route | undefined, Record<string, string> | null] {
  for (const route of routes) {
    const pattern = RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/{(\w+)}/g, '(?<$1>[^/]+)')}$`);
    const match = route.methods.includes(method ?? '') ? pattern.exec(path) : null;
    const values = Object.entries(match?.groups ?? {}).map(([name, value]) => [name, decoded(value)]);
    if (match) return [route, values.length > 0 ? Object.fromEntries(values) : null];
  }
  return [undefined, { proxy: path.slice(1) }];
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function send(
  response: ServerResponse,
  { statusCode, headers, multiValueHeaders, body }: APIGatewayProxyResult,
) {
  for (const [name, value] of Object.entries({ ...headers, ...multiValueHeaders }))
    response.setHeader(headerAsDelivered(name), value as string | string[]);
  let bytes: Uint8Array = Buffer.from(body);
  if (bytes.length >= MIN_GZIP_BYTES && acceptsGzip(response.req.headers['accept-encoding'])) {
    bytes = gzipSync(bytes);
    response.setHeader('content-encoding', 'gzip');
  }
  if (statusCode !== 204) response.setHeader('content-length', bytes.length);
  response.writeHead(statusCode).end(bytes);
}
