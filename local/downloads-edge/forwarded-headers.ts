import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { EdgeSettings } from '../../lib/downloads-edge.ts';

/** The headers that CloudFront forwards under any policy ("HTTP request headers and CloudFront behavior"). */
const ALWAYS_FORWARDED = [
  'range',
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range'],
];

/**
 * The headers of the request to the origin at `host`. They include `Authorization` only if the cache key names it, or
 * if the request is an OPTIONS. Answers to OPTIONS are not cached.
 */
export function forwardedHeaders(
  { method, headers, socket }: IncomingMessage,
  { key }: EdgeSettings,
  host: string,
): OutgoingHttpHeaders {
  const names = [
    ...ALWAYS_FORWARDED,
    ...(method === 'OPTIONS' ? ['authorization'] : []),
    ...key.headers.map((name) => name.toLowerCase()),
  ];
  const forwarded = names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return {
    ...Object.fromEntries(forwarded),
    host,
    'user-agent': 'Amazon CloudFront',
    via: '1.1 edge.local (CloudFront)',
    'x-forwarded-for': [headers['x-forwarded-for'], socket.remoteAddress].filter(Boolean).join(', '),
    'x-amz-cf-id': randomUUID(),
  };
}
