import type { APIGatewayProxyEvent } from 'aws-lambda';
import Negotiator from 'negotiator';

/**
 * A header's values, joined into one as in HTTP. The name is compared in lower case, because API Gateway keeps names as
 * the caller wrote them.
 */
export function requestHeader({ multiValueHeaders }: APIGatewayProxyEvent, name: string): string | undefined {
  const values = Object.entries(multiValueHeaders ?? {}).flatMap(([key, values]) =>
    key.toLowerCase() === name ? (values ?? []) : [],
  );
  return values.length > 0 ? values.join(', ') : undefined;
}

/**
 * Whether a caller accepts an answer in gzip, by `Accept-Encoding` (RFC 9110, 12.5.3). False without the header,
 * because the caller may not be able to decode gzip.
 */
export const acceptsGzip = (acceptEncoding: string | undefined): boolean =>
  acceptEncoding !== undefined &&
  new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings(['gzip']).includes('gzip');
