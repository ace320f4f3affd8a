import type { APIGatewayProxyResult } from 'aws-lambda';
import { otherGatewayProblems } from './gateway-problems.ts';
import { Problem } from './problem.ts';

/** Every error that is not a `Problem` gets the same answer (docs/contract.md#errors). */
const { status, slug, title, detail } = otherGatewayProblems.failed;
const OPAQUE = { status, slug, title, message: detail, headers: {}, members: {} };

/** An error as the response that its class calls for, in `application/problem+json`. */
export function problemResponse(error: unknown, requestId: string): APIGatewayProxyResult {
  const { status, slug, title, message, headers, members } = error instanceof Problem ? error : OPAQUE;
  return {
    statusCode: status,
    headers: { 'Content-Type': PROBLEM_MEDIA_TYPE, 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify({
      ...problemDocument({ slug, title, status, detail: message }, requestId),
      ...members,
    }),
  };
}

/** Every problem's type begins with this; what follows names its entry in `docs/problems.md`. */
const TYPE_PREFIX = 'urn:problem-type:performance-reports:';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/**
 * The members of a problem document (RFC 9457). `detail` comes first, because several HTTP clients show the first 120
 * characters of an answer and no more. `instance` names the request, for a caller to quote and an operator to find in
 * the log.
 */
export const problemDocument = (
  { slug, title, status, detail }: { slug: string; title: string; status: number; detail: string },
  requestId: string,
) => ({ detail, title, status, type: TYPE_PREFIX + slug, instance: `urn:uuid:${requestId}` });
