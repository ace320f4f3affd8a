/**
 * Headers of every answer, including those of the gateway and the firewall. A browser must not guess another media
 * type, and must use TLS for this host for a year. Over plain http, as on one machine, browsers ignore the second
 * header (RFC 6797, 8.1).
 */
export const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': 'max-age=31536000',
} as const;

/** The header that names the deployed commit: the first thing to know about a wrong answer. */
export const VERSION_HEADER = 'Service-Version';

/**
 * The name under which a function's response header reaches the caller. API Gateway's REST APIs rename one of them
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html).
 */
export const headerAsDelivered = (name: string): string =>
  name.toLowerCase() === 'www-authenticate' ? 'x-amzn-Remapped-WWW-Authenticate' : name;
