/** Every problem's type begins with this; what follows names its entry in `docs/problems.md`. */
const TYPE_PREFIX = 'urn:problem-type:performance-reports:';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/**
 * The members of a problem document (RFC 9457), in their order. `instance` names the request, for a caller to
 * quote and an operator to find in the log.
 */
export const problemDocument = (
  { slug, title, status, detail }: { slug: string; title: string; status: number; detail: string },
  requestId: string,
) => ({ type: TYPE_PREFIX + slug, title, status, detail, instance: `urn:uuid:${requestId}` });
