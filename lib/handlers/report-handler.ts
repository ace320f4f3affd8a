import type { APIGatewayProxyResult } from 'aws-lambda';
import { LIMIT_TOLERANCE } from '../delivery/judge-execution.ts';
import { issueTicket } from '../delivery/ticket.ts';
import type { Report } from '../report/catalogue.ts';
import { parseRequest } from '../report/parse-request.ts';
import type { TokenVerifier } from '../token/verify-token.ts';
import { admitCaller } from './admit-caller.ts';
import { answerBy, answerDelivery } from './answer-delivery.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { problemChain } from './problem-chain.ts';
import { requestHeader } from './request-header.ts';

/** A large result may take the publishing function's 15 minutes after its query has ended. */
const PUBLISHING_MS = 900_000;

/** The ticket outlives the wait by this, so that the last hop can say that the time is up. */
const LAST_ANSWER_MS = 60_000;

/**
 * GET /reporting/{report}?requestedFields=Day,Clicks&startInclusive=…&endExclusive=…&api-version=1.0
 * (docs/contract.md#the-two-reports)
 *
 * - 303 with the download URL in `Location`, or with a waiting URL if the report takes longer than one request
 * - 400 that lists every fault of the request; 401 without a good token for this API, checked before anything else
 * - 500 when something of ours fails, 503 when the same request will do later
 *
 * HEAD does all of that, the query too, so that its status and headers are GET's; the gateway drops the body.
 */
export function reportHandler(
  report: Report,
  dependencies: FunctionDependencies & { readonly verifyToken: TokenVerifier },
) {
  const { config, backendsUntil } = dependencies;
  return problemChain(dependencies).handler(
    async (event, { facts, began }): Promise<APIGatewayProxyResult> => {
      facts.report = report.name;
      const { register, results } = backendsUntil(answerBy(dependencies, began));
      const { client, entitlement } = await admitCaller(event, report, dependencies, register, facts);
      const parameters = event.multiValueQueryStringParameters ?? {};
      const request = parseRequest(report, { parameters, accept: requestHeader(event, 'accept') });

      // A little later than the limit of the query, so that the query is stopped before its caller gives up.
      const giveUpAt = began + (1 + LIMIT_TOLERANCE) * config.longestQueryMs;
      const publishUntil = giveUpAt + PUBLISHING_MS;
      return answerDelivery(dependencies, {
        event,
        began,
        hop: 0,
        facts,
        wanted: { request, entitlement, client },
        callerWaits: { giveUpAt, publishUntil },
        remember: async (progress) => {
          const ticket = await issueTicket(results, {
            form: 1,
            report: report.name,
            parameters: parameters as Record<string, string[]>,
            companies: entitlement === 'every-company' ? entitlement : entitlement.map(String),
            client,
            progress,
            giveUpAt,
            publishUntil,
            expiresAt: publishUntil + LAST_ANSWER_MS,
          });
          return { ticket, hop: 1 };
        },
      });
    },
  );
}
