import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { EDGE_ERRORS, type EdgeSettings } from '../../lib/downloads-edge.ts';

/**
 * CloudFront caches these errors for at least the error TTL, whatever the origin's headers say. It caches the other
 * errors of `EDGE_ERRORS` only if the origin sends a `max-age`.
 */
const ALWAYS_KEPT = [404, 414, 500, 501, 502, 503, 504];

const NOT_SHARED = /\b(?:no-store|no-cache|private|max-age=0|s-maxage=0)\b/;

const maxAgeOf = (headers: IncomingHttpHeaders): number | undefined => {
  const control = headers['cache-control'] ?? '';
  const [, age] = /\bs-maxage=(\d+)/.exec(control) ?? /\bmax-age=(\d+)/.exec(control) ?? [];
  return age === undefined ? undefined : Number(age);
};

/** Whether one answer goes to all clients that requested the same file while it was fetched ("request collapsing"). */
export const isShared = (headers: IncomingHttpHeaders, { ttlSeconds }: EdgeSettings): boolean =>
  ttlSeconds.minimum > 0 || !NOT_SHARED.test(headers['cache-control'] ?? '');

/**
 * The number of seconds for which CloudFront sends a cached answer without asking the origin. 0: it caches the answer,
 * but asks the origin each time whether it has changed. Undefined: it does not cache the answer. See the developer
 * guide, "Manage how long content stays in the cache" and "HTTP 4xx and 5xx status codes that CloudFront caches".
 */
export function keptSeconds(
  status: number,
  headers: IncomingHttpHeaders,
  settings: EdgeSettings,
): number | undefined {
  const { minimum, default: byDefault, maximum } = settings.ttlSeconds;
  const maxAge = maxAgeOf(headers);
  if (status >= 400) {
    const isKept =
      ALWAYS_KEPT.includes(status) || ((EDGE_ERRORS as readonly number[]).includes(status) && maxAge);
    const seconds = Math.max(settings.errorTtlSeconds, maxAge ?? 0);
    return isKept && seconds > 0 ? seconds : undefined;
  }
  if (/\b(?:no-store|no-cache|private)\b/.test(headers['cache-control'] ?? ''))
    return minimum > 0 ? minimum : undefined;
  return Math.max(minimum, maxAge === undefined ? byDefault : Math.min(maxAge, maximum));
}

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
