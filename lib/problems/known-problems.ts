import { gatewayProblems, refusedByFirewall } from './gateway-problems.ts';
import {
  InvalidRequest,
  NoRecords,
  NoSuchDownload,
  NotAuthorized,
  type Problem,
  ReportTooLarge,
  TooManyCompanies,
  Unauthenticated,
  Unavailable,
} from './problem.ts';
import { problemDocument, problemResponse } from './problem-response.ts';

/** One problem, and the document that is sent for it. For a gateway's problem, `headers` is empty. */
export interface KnownProblem {
  readonly name: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly document: { readonly type: string; readonly title: string; readonly detail: string };
}

const INSTANCE = '0b0f6c1e-2f0e-4a8e-9f6a-0d9a0a8f6f0b';

/**
 * An example of each class in `problem.ts`, except `NotFound` and `Overloaded`. `NotFound` is one of the gateway's
 * problems; `Overloaded` is an `Unavailable`.
 */
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

/** Every problem that the functions, the gateway or the firewall send, in the order of the statuses. */
export function knownProblems(scope: string): readonly KnownProblem[] {
  const opaque = new Error('not ours to explain');
  const ours = [...causes(scope), opaque].map((error): KnownProblem => {
    const { statusCode, headers = {}, body } = problemResponse(error, INSTANCE);
    const document = JSON.parse(body);
    return { name: nameOf(document.type), status: statusCode, headers, document };
  });
  const gateways = [...Object.values(gatewayProblems), refusedByFirewall].map((problem): KnownProblem => {
    const document = problemDocument(problem, INSTANCE);
    return { name: problem.slug, status: problem.status, headers: {}, document };
  });
  return [...ours, ...gateways].sort((a, b) => a.status - b.status);
}

const nameOf = (type: string): string => type.slice(type.lastIndexOf(':') + 1);
