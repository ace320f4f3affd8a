import type { APIGatewayProxyResult } from 'aws-lambda';
import { redirectToDownload, redirectToWaitingRoom } from '../answers/redirect.ts';
import { presignReport } from '../aws/presign-report.ts';
import { deliverReport } from '../delivery/deliver-report.ts';
import { orderReport } from '../delivery/report-order.ts';
import { issueTicket } from '../delivery/ticket.ts';
import type { Report } from '../report/catalogue.ts';
import { parseRequest } from '../report/parse-request.ts';
import { entitle } from '../token/entitle.ts';
import type { TokenVerifier } from '../token/verify-token.ts';
import type { FunctionParts } from './function-parts.ts';
import { deliveryFacts } from './logged-facts.ts';
import { problemChain } from './problem-chain.ts';
import { requestHeader } from './request-header.ts';

/** A large result may take the publishing function's 15 minutes after its query has ended. */
const PUBLISHING_MS = 900_000;

/**
 * GET /reporting/{report}?requestedFields=Day,Clicks&startInclusive=…&endExclusive=…&api-version=1.0
 * (contract 4.3, 4.4)
 *
 * - 303 with the download URL in `Location`, or with a waiting URL if the report takes longer than one request
 * - 400 that lists every fault of the request; 401 without a good token for this API, checked before anything else
 * - 500 when something of ours fails, 503 when the same request will do later
 *
 * HEAD does all of that, the query too, so that its status and headers are GET's; the gateway drops the body.
 */
export function reportHandler(
  report: Report,
  parts: FunctionParts & { readonly verifyToken: TokenVerifier },
) {
  const { config, results, verifyToken } = parts;
  return problemChain(parts).handler(async (event, { facts, began }): Promise<APIGatewayProxyResult> => {
    facts.report = report.name;
    const claims = await verifyToken(requestHeader(event, 'authorization'));
    facts.client = String(
      claims['client_id'] ?? claims['azp'] ?? claims['appid'] ?? claims['sub'] ?? 'unnamed',
    );
    const entitlement = entitle(claims, report, config);
    facts.companies = entitlement === 'every-company' ? entitlement : entitlement.length;
    const request = parseRequest(report, {
      parameters: event.multiValueQueryStringParameters ?? {},
      accept: requestHeader(event, 'accept'),
    });

    const order = orderReport(request, entitlement);
    const delivery = await deliverReport(parts, order, began + config.queryWaitMs);
    Object.assign(facts, deliveryFacts(delivery));
    const { isPublished, progress, cacheStatus } = delivery;
    if (isPublished || !progress)
      return redirectToDownload(
        await presignReport(results, order.key, config.downloadUrlSeconds),
        cacheStatus,
      );
    const expiresAt = began + config.longestQueryMs + PUBLISHING_MS;
    const ticket = await issueTicket(results, { report: report.name, order, progress, expiresAt });
    return redirectToWaitingRoom(event, { ticket, hop: 1 }, cacheStatus);
  });
}
