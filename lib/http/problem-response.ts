import type { APIGatewayProxyResult } from 'aws-lambda';
import { InvalidRequest, Problem } from '../problem.ts';

/** Every problem's type begins with this; what follows is the heading of its entry in `docs/problems.md`. */
const TYPE_PREFIX = 'urn:problem-type:performance-reports:';

/** What is not ours to explain is answered alike, whatever it was (contract 4.2: 500). */
const OPAQUE = {
  status: 500,
  slug: 'internal-error',
  title: 'Internal error',
  message: 'The report could not be made. Try again; if it stays so, report the instance of this problem.',
  headers: {},
};

/**
 * An error as `application/problem+json` (RFC 9457). `instance` names the request, for a caller to quote and
 * an operator to find in the log.
 */
export function problemResponse(error: unknown, requestId: string): APIGatewayProxyResult {
  const { status, slug, title, message, headers } = error instanceof Problem ? error : OPAQUE;
  return {
    statusCode: status,
    headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify({
      type: TYPE_PREFIX + slug,
      title,
      status,
      detail: message,
      instance: `urn:uuid:${requestId}`,
      ...(error instanceof InvalidRequest && { errors: error.faults }),
    }),
  };
}
