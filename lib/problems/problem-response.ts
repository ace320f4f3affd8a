import type { APIGatewayProxyResult } from 'aws-lambda';
import { DOCUMENTS_PATH } from '../names.ts';
import { gatewayProblems, otherGatewayProblems, refusedByFirewall } from './gateway-problems.ts';
import {
  InvalidRequest,
  NoRecords,
  NoSuchDownload,
  NotAuthorized,
  Problem,
  ReportTooLarge,
  TooManyCompanies,
  Unauthenticated,
  Unavailable,
} from './problem.ts';

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

const INSTANCE = '0b0f6c1e-2f0e-4a8e-9f6a-0d9a0a8f6f0b';

/** An example of each class, without `NotFound`, which is the gateway's too, and subclasses. */
export const causes = (scope: string): readonly Problem[] => [
  new InvalidRequest([
    { parameter: 'requestedFields', detail: 'Unknown field "Click". Did you mean "Clicks"?' },
  ]),
  new ReportTooLarge(),
  new Unauthenticated('The access token is invalid or has expired. Request a new one.'),
  new NotAuthorized(scope, 'partner'),
  new NoRecords('Advertiser performance report'),
  new NoSuchDownload(),
  new TooManyCompanies(30_000),
  new Unavailable('The report took too long and was given up. Narrow it, or request it later.', 60),
];

/**
 * Every problem that the functions, the gateway or the firewall send, with its document, in the order of the statuses.
 * For a gateway's problem, `headers` is empty.
 */
export function knownProblems(scope: string) {
  const ours = causes(scope).map(({ slug: name, title, status, message: detail, headers, members }) => {
    const document = problemDocument({ slug: name, title, status, detail }, INSTANCE);
    return { name, status, headers, document: { ...document, ...members } };
  });
  const gateways = [...Object.values(gatewayProblems), otherGatewayProblems.failed, refusedByFirewall];
  const others = gateways.map((problem) => {
    const document = problemDocument(problem, INSTANCE);
    return { name: problem.slug, status: problem.status, headers: {}, document };
  });
  return [...ours, ...others].sort((a, b) => a.status - b.status);
}
