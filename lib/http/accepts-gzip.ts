import Negotiator from 'negotiator';

/**
 * Whether a caller accepts an answer in gzip, by `Accept-Encoding` (RFC 9110, 12.5.3). False without the header,
 * because the caller may not be able to decode gzip.
 */
export const acceptsGzip = (acceptEncoding: string | undefined): boolean =>
  acceptEncoding !== undefined &&
  new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings(['gzip']).includes('gzip');
