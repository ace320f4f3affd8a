import Negotiator from 'negotiator';

/**
 * Whether a caller takes an answer in gzip, by `Accept-Encoding` (RFC 9110, 12.5.3). Without the header it may not be
 * able to decode gzip, and gets none.
 */
export const acceptsGzip = (acceptEncoding: string | undefined): boolean =>
  acceptEncoding !== undefined &&
  new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings(['gzip']).includes('gzip');
