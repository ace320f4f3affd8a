import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { Config } from '../config.ts';
import { problemResponse } from '../problems/problem.ts';
import { COMMON_HEADERS, HEADER } from '../response-headers.ts';
import { PREFLIGHT_METHOD, ROUTE_METHODS } from '../routes.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { requestHeader, serviceUrl } from './request-header.ts';
import { type LoggedContext, requestLog } from './request-log.ts';

/**
 * The middleware of every route: one log line per request, a problem document for every error, the common headers, the
 * commit's header, and the CORS headers for the stage's origins. `endsReport`: whether an error means a failed report.
 */
export const problemChain = (
  { config, log, metrics }: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'>,
  { endsReport = false } = {},
) =>
  middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, LoggedContext>()
    // `responseHeaders` comes first, because the first middleware sees the answer last.
    .use(responseHeaders(config))
    .use(requestLog(log, metrics, endsReport))
    .onError((request) => {
      const { error, event } = request;
      request.response = problemResponse(error, event.requestContext.requestId, serviceUrl(event));
    });

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': ROUTE_METHODS.join(', '),
  'Access-Control-Allow-Headers': 'Authorization, Accept',
  // Browsers keep an answer to a preflight no longer than two hours.
  'Access-Control-Max-Age': '7200',
};

/** What a page may read in addition to what CORS always lets it read. */
const EXPOSED = `Cache-Status, ${HEADER.dataVersion}, Deprecation, Link, ${HEADER.reportEmpty}, Retry-After, ${HEADER.version}, Sunset, x-amzn-RequestId`;

/**
 * The common headers, and those of CORS (Fetch standard, 3.2) for pages of `corsOrigins`. Without origins, OPTIONS is
 * answered 404. Credentials are not allowed: the page itself sends its token, and the browser adds no cookies.
 */
function responseHeaders({
  corsOrigins,
  commit,
}: Config): middy.MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult> {
  const allow = (event: APIGatewayProxyEvent, vary?: unknown): Record<string, string> => {
    if (corsOrigins.length === 0) return {};
    const origin = requestHeader(event, 'origin');
    const Vary = vary ? `${vary}, Origin` : 'Origin';
    return origin !== undefined && corsOrigins.includes(origin)
      ? { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED, Vary }
      : { Vary };
  };
  const addTo: ReturnType<typeof responseHeaders>['after'] = ({ event, response }) => {
    if (!response) return;
    const common = { ...response.headers, ...COMMON_HEADERS, [HEADER.version]: commit };
    response.headers = { ...common, ...allow(event, response.headers?.['Vary']) };
  };
  return {
    before: ({ event }) =>
      event.httpMethod === PREFLIGHT_METHOD && corsOrigins.length > 0
        ? { statusCode: 204, headers: { ...allow(event), ...PREFLIGHT_HEADERS, ...COMMON_HEADERS }, body: '' }
        : undefined,
    after: addTo,
    onError: addTo,
  };
}
