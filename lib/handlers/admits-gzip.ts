import Negotiator from 'negotiator';

/**
 * Whether an answer in gzip is welcome, by `Accept-Encoding` (RFC 9110, 12.5.3). Who sends no such header may not
 * know how to decode one, and gets none.
 */
export const admitsGzip = (acceptEncoding: string | undefined): boolean =>
  acceptEncoding !== undefined &&
  new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings(['gzip']).includes('gzip');
