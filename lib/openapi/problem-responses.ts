import {
  gatewayProblems,
  otherGatewayProblems,
  refusedByFirewall,
  requestTooLarge,
} from '../problems/gateway-problems.ts';
import { knownProblems } from '../problems/problem.ts';
import { headerAsDelivered } from '../response-headers.ts';
import { headersNamed, type Part, reference } from './parts.ts';

const FAILED = 'if it keeps failing, report the instance.';

const DESCRIPTION: Readonly<Record<number, string>> = {
  400: 'The request is at fault, or asks for too much. The same request will fail again.',
  401: 'No access token, or one that is not accepted. The document says which.',
  403: 'The firewall refused the request.',
  404: 'Not found. Every unknown path, and every method except GET and HEAD, gets this answer.',
  429: 'Too many requests. Wait, then try again.',
  500: `The service failed. Try again, except after too-many-companies; ${FAILED}`,
  502: `The service failed. Try again; ${FAILED}`,
  503: 'Not now. Try again after Retry-After seconds.',
  504: `The request took too long. Try again; ${FAILED}`,
};

/** The statuses that the gateway may answer by itself, to any request that has a route. */
const GATEWAY_STATUSES = [
  ...Object.values(gatewayProblems).filter((problem) => problem !== gatewayProblems.notFound),
  ...Object.values(otherGatewayProblems),
  requestTooLarge,
  refusedByFirewall,
].map(({ status }) => status);

/** References to the problems of a route: those of the gateway, and those of these statuses. */
export const problemsOf = (...statuses: readonly number[]): Part =>
  Object.fromEntries(
    [...GATEWAY_STATUSES, ...statuses].map((status) => [status, reference('responses', `Problem${status}`)]),
  );

/**
 * Problems are `application/problem+json`. The firewall can't send that, so it sends `application/json`. This range
 * covers both. If either were named here, the clients of several generators would ask for JSON instead of CSV.
 */
const PROBLEM_MEDIA_TYPES = 'application/*';

/** One response per status, for `components`: the problems it may contain, with an example of each. */
export function problemResponses(scope: string): Part {
  const responses = [...Map.groupBy(knownProblems(scope), ({ status }) => status)].map(
    ([status, problems]) => {
      const own = ['WWW-Authenticate', 'Retry-After'].filter((header) =>
        problems.some(({ headers }) => header in headers),
      );
      // By the problem's name. If a problem has several texts, a number follows the name from the second on.
      const examples = [...Map.groupBy(problems, ({ name }) => name)].flatMap(([name, alike]) =>
        alike.map(({ document }, index) => [
          index === 0 ? name : `${name}-${index + 1}`,
          { value: document },
        ]),
      );
      const response = {
        description: DESCRIPTION[status],
        headers:
          // The firewall's 429 has no `Cache-Control`.
          status === 429
            ? { 'Retry-After': reference('headers', 'RetryAfterFirewall') }
            : headersNamed('Cache-Control', ...own.map(headerAsDelivered)),
        content: {
          [PROBLEM_MEDIA_TYPES]: {
            schema: reference('schemas', 'Problem'),
            examples: Object.fromEntries(examples),
          },
        },
      };
      return [`Problem${status}`, response];
    },
  );
  return {
    ...Object.fromEntries(responses),
    // This response has no `content`: a second kind of body would remove the problem document's members from the types
    // of generated clients.
    [`Problem${requestTooLarge.status}`]: {
      description: `\
The request line and the headers are larger than 10 KB together. API Gateway answers by itself, with \
\`${JSON.stringify(requestTooLarge.body)}\` in \`${requestTooLarge.mediaType}\` and no problem document: decide by the status.`,
    },
  };
}
