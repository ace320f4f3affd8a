import type { APIGatewayProxyResult } from 'aws-lambda';
import { DOCUMENTS_PATH } from '../names.ts';
import { otherGatewayProblems } from './gateway-problems.ts';
import { Problem } from './problem.ts';

/** Every error that is not a `Problem` gets the same answer (docs/contract.md#errors). */
const { status, slug, title, detail } = otherGatewayProblems.failed;
const OPAQUE = { status, slug, title, message: detail, headers: {}, members: {} };

/**
 * The response for an error, in `application/problem+json`. The error's class decides its status and headers.
 *
 * @param service the service's URL, for `help`; if it is not known, `help` is a path
 */
export function problemResponse(error: unknown, requestId: string, service?: string): APIGatewayProxyResult {
  const { status, slug, title, message, headers, members } = error instanceof Problem ? error : OPAQUE;
  return {
    statusCode: status,
    headers: { 'Content-Type': PROBLEM_MEDIA_TYPE, 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify({
      ...problemDocument({ slug, title, status, detail: message }, requestId, service),
      ...members,
    }),
  };
}

/** The beginning of every problem's type. The rest of the type is the name of an entry in `docs/problems.md`. */
const TYPE_PREFIX = 'urn:problem-type:performance-reports:';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/**
 * The members of a problem document (RFC 9457). `detail` comes first, because several HTTP clients show only the first
 * 120 characters of an answer. `instance` names the request: the caller quotes it, and the operator finds it in the
 * log. `help` is the URL of the problem's entry in the service's documents. The gateway and the firewall don't know the
 * service's URL, so theirs is only the path.
 */
export const problemDocument = (
  { slug, title, status, detail }: { slug: string; title: string; status: number; detail: string },
  requestId: string,
  service = '',
) => ({
  detail,
  title,
  status,
  type: TYPE_PREFIX + slug,
  help: `${service}${DOCUMENTS_PATH}/problems#${slug}`,
  instance: `urn:uuid:${requestId}`,
});
