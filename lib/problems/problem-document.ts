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
