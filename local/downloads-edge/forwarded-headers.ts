import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { EdgeSettings } from '../../lib/downloads-edge.ts';

/** What CloudFront hands on whatever the settings say ("HTTP request headers and CloudFront behavior"). */
const ALWAYS_FORWARDED = [
  'range',
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range'],
];

/** The headers of the request to the origin, at `host`. `Authorization` is not among them unless the key names it. */
export function forwardedHeaders(
  headers: IncomingHttpHeaders,
  { key }: EdgeSettings,
  host: string,
): OutgoingHttpHeaders {
  const names = [...ALWAYS_FORWARDED, ...key.headers.map((name) => name.toLowerCase())];
  const forwarded = names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return { ...Object.fromEntries(forwarded), host, 'user-agent': 'Amazon CloudFront' };
}
