import { requestTooLarge } from '../problems/gateway-problems.ts';
import { type KnownProblem, knownProblems } from '../problems/known-problems.ts';
import { InvalidRequest } from '../problems/problem.ts';
import { PROBLEM_MEDIA_TYPE } from '../problems/problem-response.ts';
import { headerAsDelivered } from '../response-headers.ts';
import { type Part, reference } from './schema.ts';

/** The schemas of problem documents, for `components` (RFC 9457). */
export const problemSchemas: Part = {
  Problem: {
    type: 'object',
    description: `What went wrong, in \`${PROBLEM_MEDIA_TYPE}\`. Decide by \`type\` or \`status\`, never by \`detail\`.`,
    required: ['type', 'title', 'status', 'detail'],
    properties: {
      type: {
        type: 'string',
        format: 'uri',
        // No enumeration: a client that was generated today would refuse a kind of problem that comes tomorrow.
        description:
          'What kind of problem it is; each kind has an entry in `docs/problems.md`. New ones may come.',
      },
      title: { type: 'string', description: 'The kind of problem, for people.' },
      status: { type: 'integer', minimum: 400, maximum: 599, description: "The response's own status." },
      detail: {
        type: 'string',
        description: 'What is wrong and what to do, for people. If there are several faults, the first one.',
      },
      instance: {
        type: 'string',
        format: 'uri',
        description: 'Identifies the request in the operator’s log. Only the firewall leaves it out.',
      },
      scope: {
        type: 'string',
        description: 'The scope to request a token with. Present if a valid token is not authorized.',
      },
      errors: {
        type: 'array',
        description: 'The faults of the request, where its parameters are at fault.',
        items: reference('schemas', 'Fault'),
        minItems: 1,
        maxItems: InvalidRequest.mostListed,
      },
      errorsLeftOut: {
        type: 'integer',
        minimum: 1,
        description: 'How many more faults there are, which are not listed.',
      },
    },
  },
  Fault: {
    type: 'object',
    required: ['parameter', 'detail'],
    properties: {
      parameter: { type: 'string', description: 'A query parameter as the caller wrote it, or `Accept`.' },
      detail: { type: 'string', description: 'What is wrong with it.' },
    },
  },
};

const DESCRIPTION: Readonly<Record<number, string>> = {
  400: 'The request is at fault, or asks for too much. The same request will fail again.',
  401: 'No access token, or one that is not accepted. The document says which.',
  403: 'The firewall refused the request.',
  404: 'Not found. Every unknown path, and every method except GET and HEAD, gets this answer.',
  429: 'Too many requests. Wait, then try again.',
  500: 'The service failed. Try again; if it keeps failing, report the instance.',
  502: 'The service failed. Try again; if it keeps failing, report the instance.',
  503: 'Not now. Try again after Retry-After seconds.',
  504: 'The request took too long. Try again; if it keeps failing, report the instance.',
};

/** One response per status, for `components`: the problems it may contain, with an example of each. */
export function problemResponses(scope: string): Part {
  const byStatus = Map.groupBy(knownProblems(scope), ({ status }) => status);
  return {
    ...Object.fromEntries(
      [...byStatus].map(([status, problems]) => [name(status), response(status, problems)]),
    ),
    [name(requestTooLarge.status)]: tooLarge,
  };
}

/**
 * This response has no `content`: a second kind of body would remove the problem document's members from the types of
 * generated clients.
 */
const tooLarge: Part = {
  description:
    'The request line and the headers are larger than 10 KB together. API Gateway answers by itself, with ' +
    `\`${JSON.stringify(requestTooLarge.body)}\` in \`${requestTooLarge.mediaType}\` and no problem document: decide by the status.`,
};

/** References to the responses of these statuses, by status. */
export const problemReferences = (statuses: readonly number[]): Part =>
  Object.fromEntries(statuses.map((status) => [status, reference('responses', name(status))]));

/**
 * Problems are `application/problem+json`. The firewall can't send that, so it sends `application/json`. This range
 * covers both. If either were named here, the clients of several generators would ask for JSON instead of CSV.
 */
const PROBLEM_MEDIA_TYPES = 'application/*';

const name = (status: number) => `Problem${status}`;

function response(status: number, problems: readonly KnownProblem[]): Part {
  const content = {
    schema: reference('schemas', 'Problem'),
    examples: examplesOf(problems),
  };
  return {
    description: DESCRIPTION[status],
    headers: headersOf(status, problems),
    content: { [PROBLEM_MEDIA_TYPES]: content },
  };
}

/**
 * The examples, by the name of the problem. If one problem has several texts, a number follows the name from the second
 * on.
 */
const examplesOf = (problems: readonly KnownProblem[]): Part =>
  Object.fromEntries(
    [...Map.groupBy(problems, ({ name }) => name)].flatMap(([name, alike]) =>
      alike.map(({ document }, index) => [index === 0 ? name : `${name}-${index + 1}`, { value: document }]),
    ),
  );

/**
 * A problem's own headers, and `Cache-Control`. The firewall's 429 has no `Cache-Control`, so 429 lists only
 * `Retry-After`.
 */
function headersOf(status: number, problems: readonly KnownProblem[]): Part {
  if (status === 429) return { 'Retry-After': reference('headers', 'RetryAfterFirewall') };
  const own = ['WWW-Authenticate', 'Retry-After'].filter((header) =>
    problems.some(({ headers }) => header in headers),
  );
  return Object.fromEntries(
    ['Cache-Control', ...own.map(headerAsDelivered)].map((header) => [header, reference('headers', header)]),
  );
}
