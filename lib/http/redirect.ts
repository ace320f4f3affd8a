import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { CacheStatus, Delivery } from '../delivery/delivery.ts';
import { BASE_PATH, downloadPath } from '../routes.ts';

/**
 * Values of the header `Cache-Status` (RFC 9211): whether the answer came from a stored report, from a query of its
 * own, or from a query that others had started.
 */
export const CACHE_STATUS: Record<CacheStatus, string> = {
  hit: 'PerformanceReports; hit',
  miss: 'PerformanceReports; fwd=miss',
  collapsed: 'PerformanceReports; fwd=miss; collapsed',
};

/**
 * The body of a redirect, for people who see it. RFC 9110 (15.4.4) asks for the link in the body too. This body leaves
 * the link out, because some logs keep bodies and not headers, and anyone with the link can download the report.
 */
export const NOTE = {
  download:
    'The report is ready. GET the URL in the Location header, without an Authorization header. ' +
    'Keep it to yourself: until it expires, whoever has it can download the report.\n',
  waitingRoom:
    'The report is being made. GET the URL in the Location header: it answers when the report is ready, ' +
    'or says where to wait on.\n',
};

/** The header that names the report's data version. */
export const DATA_VERSION_HEADER = 'Data-Version';

/** The header that says why a report has no rows. */
export const REPORT_EMPTY_HEADER = 'Report-Empty';

/** 303 to the report itself (docs/contract.md#the-redirect). */
export const redirectToDownload = (
  url: string,
  {
    cacheStatus,
    dataVersion,
    whyEmpty,
  }: Omit<Extract<Delivery, { state: 'ready' }>, 'state' | 'key' | 'bytes'>,
): APIGatewayProxyResult =>
  seeOther(url, cacheStatus, NOTE.download, {
    ...(dataVersion && { [DATA_VERSION_HEADER]: dataVersion }),
    ...(whyEmpty && { [REPORT_EMPTY_HEADER]: whyEmpty }),
  });

/**
 * 303 to the waiting room. The URL differs on every hop, because some clients refuse a URL that they have already
 * followed. It keeps the part before the service's own path: a stage or a custom domain's base path.
 */
export function redirectToWaitingRoom(
  { requestContext: { path } }: APIGatewayProxyEvent,
  { ticket, hop }: { readonly ticket: string; readonly hop: number },
  cacheStatus: CacheStatus,
): APIGatewayProxyResult {
  const base = path.slice(0, path.lastIndexOf(`${BASE_PATH}/`));
  return seeOther(`${base}${downloadPath(ticket, hop)}`, cacheStatus, NOTE.waitingRoom);
}

/** 303 to a location. The location is the caller's secret, so no cache may store the answer. */
const seeOther = (
  location: string,
  cacheStatus: CacheStatus,
  note: string,
  headers: Readonly<Record<string, string>> = {},
): APIGatewayProxyResult => ({
  statusCode: 303,
  headers: {
    Location: location,
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    // `Accept-Encoding` decides which of a report's two files the location leads to.
    Vary: 'Accept-Encoding',
    'Cache-Status': CACHE_STATUS[cacheStatus],
    ...headers,
  },
  body: note,
});
