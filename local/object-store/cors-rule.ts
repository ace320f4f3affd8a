import type { IncomingMessage, ServerResponse } from 'node:http';

/** A bucket's CORS rule for any origin. */
export interface CorsRule {
  readonly methods: readonly string[];
  readonly allowedHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  readonly maxAgeSeconds: number;
}

/**
 * Applies the rule as S3 does, to requests with an `Origin`. Answers every preflight, signed or not. To the answer of
 * any other request, adds CORS headers if the rule allows the method, even if the answer is then a refusal. Returns
 * whether the request has been answered.
 */
export function applyCorsRule(
  { methods, allowedHeaders, exposedHeaders, maxAgeSeconds }: CorsRule,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const {
    origin,
    'access-control-request-method': asked,
    'access-control-request-headers': names,
  } = request.headers;
  const isPreflight = request.method === 'OPTIONS';
  if (origin === undefined) return false;
  const known = allowedHeaders.map((name) => name.toLowerCase());
  const wanted = isPreflight && names ? names.split(/\s*,\s*/).map((name) => name.toLowerCase()) : [];
  const isAllowed =
    methods.includes((isPreflight ? asked : request.method) ?? '') &&
    wanted.every((name) => known.includes(name));
  if (isAllowed) {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Allow-Methods', methods.join(', '));
    response.setHeader('Access-Control-Expose-Headers', exposedHeaders.join(', '));
    response.setHeader('Access-Control-Max-Age', String(maxAgeSeconds));
    response.setHeader('Vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method');
    if (wanted.length > 0) response.setHeader('Access-Control-Allow-Headers', wanted.join(', '));
  }
  if (!isPreflight) return false;
  if (isAllowed) response.writeHead(200).end();
  else
    response
      .writeHead(403, { 'Content-Type': 'application/xml' })
      .end(
        '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessForbidden</Code><Message>CORSResponse: This CORS ' +
          `request is not allowed.</Message>` +
          '<ResourceType>OBJECT</ResourceType></Error>',
      );
  return true;
}
