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
 * The name that API Gateway's REST APIs give to a function's header, by the header's own name in lower case
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html). Callers never see the
 * name that the function wrote.
 */
const REMAPPED: Readonly<Record<string, string>> = {
  'www-authenticate': 'x-amzn-Remapped-WWW-Authenticate',
};

/** The name under which a function's response header reaches the caller. */
export const headerAsDelivered = (name: string): string => REMAPPED[name.toLowerCase()] ?? name;
