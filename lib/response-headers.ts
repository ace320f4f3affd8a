/**
 * What every answer has, those of the gateway and the firewall too: a browser takes it for nothing but its media type,
 * and asks this host over TLS alone for a year. Over plain http, on one machine, browsers ignore the second (RFC 6797,
 * 8.1).
 */
export const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': 'max-age=31536000',
} as const;

/** Which commit has answered: the first thing to know about a wrong answer. */
export const VERSION_HEADER = 'Service-Version';
