import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { CacheStatus } from '../delivery/delivery.ts';
import { BASE_PATH, downloadPath } from '../routes.ts';

/** RFC 9211: whether the answer came from a copy, from a query, or from a query that others had started. */
export const CACHE_STATUS: Record<CacheStatus, string> = {
  hit: 'PerformanceReports; hit',
  miss: 'PerformanceReports; fwd=miss',
  collapsed: 'PerformanceReports; fwd=miss; collapsed',
};

/**
 * The body, for a person who sees the answer itself. RFC 9110 (15.4.4) asks for the link here too, but some logs keep
 * bodies and not headers, and anyone with the link has the report.
 */
export const NOTE = {
  download:
    'The report is ready. GET the URL in the Location header, without an Authorization header. ' +
    'Keep it to yourself: until it expires, whoever has it can download the report.\n',
  waitingRoom:
    'The report is being made. GET the URL in the Location header: it answers when the report is ready, ' +
    'or says where to wait on.\n',
};

/** Names the version of the data that the report is of. */
export const DATA_VERSION_HEADER = 'Data-Version';

/** 303 to the report itself (docs/contract.md#the-redirect). */
export const redirectToDownload = (
  url: string,
  { cacheStatus, dataVersion }: { readonly cacheStatus: CacheStatus; readonly dataVersion?: string },
): APIGatewayProxyResult =>
  seeOther(url, cacheStatus, NOTE.download, dataVersion ? { [DATA_VERSION_HEADER]: dataVersion } : {});

/**
 * 303 to the waiting room, by a URL that differs on every hop because some clients refuse one that they have
 * seen. What stands before the service's own path, a stage or a custom domain's base path, is kept.
 */
export function redirectToWaitingRoom(
  { requestContext: { path } }: APIGatewayProxyEvent,
  { ticket, hop }: { readonly ticket: string; readonly hop: number },
  cacheStatus: CacheStatus,
): APIGatewayProxyResult {
  const base = path.slice(0, path.lastIndexOf(`${BASE_PATH}/`));
  return seeOther(`${base}${downloadPath(ticket, hop)}`, cacheStatus, NOTE.waitingRoom);
}

/** The location is a secret of the caller's, so nothing may store the answer. */
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
