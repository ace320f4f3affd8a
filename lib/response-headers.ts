import type { CacheStatus } from './delivery/delivery.ts';

/**
 * Headers of every answer, also of the gateway and the firewall. A browser must not guess another media type, and must
 * use TLS for this host for a year; over plain http, as on one machine, it ignores that (RFC 6797, 8.1).
 */
export const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': 'max-age=31536000',
} as const;

export const HEADER = {
  /** Names the deployed commit: the first thing to know about a wrong answer. */
  version: 'Service-Version',
  dataVersion: 'Data-Version',
  reportEmpty: 'Report-Empty',
} as const;

/**
 * The name under which a function's response header reaches the caller. API Gateway's REST APIs rename one
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html).
 */
export const headerAsDelivered = (name: string): string =>
  name.toLowerCase() === 'www-authenticate' ? 'x-amzn-Remapped-WWW-Authenticate' : name;

/** Values of `Cache-Status` (RFC 9211): from a stored report, a query of its own, or another caller's. */
export const CACHE_STATUS: Record<CacheStatus, string> = {
  hit: 'PerformanceReports; hit',
  miss: 'PerformanceReports; fwd=miss',
  collapsed: 'PerformanceReports; fwd=miss; collapsed',
};

/**
 * The body of a redirect, for people who see it. It leaves out the link, which RFC 9110 (15.4.4) asks for, because some
 * logs keep bodies and not headers, and anyone with the link can download the report.
 */
export const NOTE = {
  download:
    'The report is ready. GET the URL in the Location header, without an Authorization header. ' +
    'Keep it to yourself: until it expires, whoever has it can download the report.\n',
  waitingRoom:
    'The report is being made. GET the URL in the Location header: it answers when the report is ready, ' +
    'or says where to wait on.\n',
};
