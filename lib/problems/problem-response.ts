import type { APIGatewayProxyResult } from 'aws-lambda';
import { otherGatewayProblems } from './gateway-problems.ts';
import { Problem } from './problem.ts';
import { PROBLEM_MEDIA_TYPE, problemDocument } from './problem-document.ts';

/** What is not ours to explain is answered alike, whatever it was (docs/contract.md#errors). */
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
