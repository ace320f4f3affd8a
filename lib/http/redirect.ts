import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { CacheStatus, Delivery } from '../delivery/delivery.ts';
import { CACHE_STATUS, DATA_VERSION_HEADER, NOTE, REPORT_EMPTY_HEADER } from '../response-headers.ts';
import { BASE_PATH, downloadPath } from '../routes.ts';

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

/** 303 to the waiting room, below the same base path. No URL twice: some clients refuse that. */
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
