import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  type GatewayProblem,
  gatewayProblems,
  otherGatewayProblems,
  refusedByFirewall,
} from '../../lib/problems/gateway-problems.ts';
import { PROBLEM_MEDIA_TYPE, problemDocument } from '../../lib/problems/problem-response.ts';
import { COMMON_HEADERS } from '../../lib/response-headers.ts';

const { notFound } = gatewayProblems;

/**
 * Answers that only the real gateway gives. Its other kinds of answers can't occur, because the API has no authorizers,
 * API keys or validators.
 */
const furtherProblems: readonly GatewayProblem[] = [
  // No method uses AWS signatures. But on an unknown route, the gateway expects a signature, and takes a bearer token
  // for an invalid signature.
  { ...notFound, responseType: 'INVALID_SIGNATURE' },
  { ...notFound, responseType: 'EXPIRED_TOKEN' },
  // The limit per address has an answer of its own, in `firewall.ts`.
  refusedByFirewall,
  ...Object.values(otherGatewayProblems),
];

/** Every answer that the gateway gives by itself, except 413, which can't be customised. */
const gatewayAnswers: readonly GatewayProblem[] = [...Object.values(gatewayProblems), ...furtherProblems];

/**
 * Makes the gateway answer in the shape of the service's own problem documents.
 *
 * @param isForPages whether pages of all other origins may read these answers, which hold nothing private
 */
export function addGatewayAnswers(api: RestApi, isForPages: boolean): void {
  for (const problem of gatewayAnswers) {
    api.addGatewayResponse(problem.responseType, {
      type: ResponseType.of(problem.responseType),
      statusCode: String(problem.status),
      responseHeaders: {
        'Content-Type': `'${PROBLEM_MEDIA_TYPE}'`,
        'Cache-Control': "'no-store'",
        ...quoted(COMMON_HEADERS),
        ...(problem.retryAfterSeconds !== undefined && { 'Retry-After': `'${problem.retryAfterSeconds}'` }),
        ...(isForPages && { 'Access-Control-Allow-Origin': "'*'" }),
      },
      // The gateway falls back to the template `application/json`, whatever the request accepts. It sends the
      // Content-Type above.
      templates: { 'application/json': JSON.stringify(problemDocument(problem, '$context.requestId')) },
    });
  }
}

/** API Gateway takes a value in single quotes for a constant, and a value without them for an expression. */
const quoted = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]));
