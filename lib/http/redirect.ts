import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { CacheStatus } from '../delivery/deliver-report.ts';
import { BASE_PATH, DOWNLOADS_PATH } from '../names.ts';

/** RFC 9211: whether the answer came from a copy, from a query, or from a query that others had started. */
const CACHE_STATUS: Record<CacheStatus, string> = {
  hit: 'PerformanceReports; hit',
  miss: 'PerformanceReports; fwd=miss',
  collapsed: 'PerformanceReports; fwd=miss; collapsed',
};

/** 303 (contract 4.2). The location is a secret of the caller's, so nothing may store the answer. */
export const redirect = (location: string, cacheStatus: CacheStatus): APIGatewayProxyResult => ({
  statusCode: 303,
  headers: {
    Location: location,
    'Cache-Control': 'no-store',
    'Cache-Status': CACHE_STATUS[cacheStatus],
  },
  body: '',
});

/**
 * The waiting URL's path, different on every hop because some clients refuse a URL that they have seen. What
 * stands before the service's own path, a stage or a custom domain's base path, is kept.
 */
export function waitingPath({ requestContext }: APIGatewayProxyEvent, ticket: string, hop: number): string {
  const { path } = requestContext;
  return `${path.slice(0, path.lastIndexOf(`${BASE_PATH}/`))}${DOWNLOADS_PATH}/${ticket}/${hop}`;
}
