import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import {
  COMMON_HEADERS,
  DATA_VERSION_HEADER,
  REPORT_EMPTY_HEADER,
  VERSION_HEADER,
} from '../response-headers.ts';
import { PREFLIGHT_METHOD, ROUTE_METHODS } from '../routes.ts';
import { requestHeader } from './request-header.ts';

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': ROUTE_METHODS.join(', '),
  'Access-Control-Allow-Headers': 'Authorization, Accept',
  // Browsers keep an answer to a preflight no longer than two hours.
  'Access-Control-Max-Age': '7200',
};

/** The headers that a page may read in addition to those that CORS always lets it read. */
const EXPOSED = `Cache-Status, ${DATA_VERSION_HEADER}, Deprecation, Link, ${REPORT_EMPTY_HEADER}, Retry-After, ${VERSION_HEADER}, Sunset, x-amzn-RequestId`;

/**
 * Lets the pages of these origins call the service and read its answers, also problems (Fetch standard, 3.2). Without
 * origins it does nothing, and OPTIONS is answered 404. Credentials are not allowed: the page itself sends its token,
 * and the browser adds no cookies.
 */
export function cors(
  origins: readonly string[],
): middy.MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult> {
  const allow = (event: APIGatewayProxyEvent, vary?: unknown): Record<string, string> => {
    if (origins.length === 0) return {};
    const origin = requestHeader(event, 'origin');
    const Vary = vary ? `${vary}, Origin` : 'Origin';
    return origin !== undefined && origins.includes(origin)
      ? { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED, Vary }
      : { Vary };
  };
  const addTo: ReturnType<typeof cors>['after'] = ({ event, response }) => {
    if (response) response.headers = { ...response.headers, ...allow(event, response.headers?.['Vary']) };
  };
  return {
    before: ({ event }) =>
      event.httpMethod === PREFLIGHT_METHOD && origins.length > 0
        ? { statusCode: 204, headers: { ...allow(event), ...PREFLIGHT_HEADERS, ...COMMON_HEADERS }, body: '' }
        : undefined,
    after: addTo,
    onError: addTo,
  };
}
