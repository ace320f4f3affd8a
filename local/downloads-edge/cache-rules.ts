import type { IncomingHttpHeaders } from 'node:http';
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
