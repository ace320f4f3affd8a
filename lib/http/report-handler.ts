import { begun } from '../begun.ts';
import { readDataState } from '../lake/data-version.ts';
import type { Report } from '../report/catalogue.ts';
import { parseRequest } from '../report/parse-request.ts';
import { issueTicket } from '../results/ticket.ts';
import { admitCaller, type CallerDependencies, verifyCaller } from './admit-caller.ts';
import { answerDelivery, requestTimes } from './answer-delivery.ts';
import { problemChain } from './problem-chain.ts';
import { requestHeader } from './request-header.ts';

/**
 * GET /reporting/{report}?requestedFields=Day,Clicks&startInclusive=…&endExclusive=…&api-version=1.0
 * (docs/contract.md#the-two-reports)
 * - 303 with the download URL in `Location`, or with a waiting URL if the report takes longer than one request
 * - 400 with every fault of the request, or if the query exceeds the scan limit
 * - 401 without a token that gives access to rows of this report; 401 comes before 400
 * - 404 if the lake has no table for the report
 * - 500 if the service fails, 503 if the same request may succeed later
 *
 * HEAD runs the query too, so that its status and headers are those of GET; the gateway drops the body.
 */
export function reportHandler(report: Report, dependencies: CallerDependencies) {
  const { config, backendsUntil } = dependencies;
  return problemChain(dependencies, { endsReport: true }).handler(async (event, { facts, began }) => {
    facts.report = report.name;
    const { waitUntil, deliverBy, answerBy } = requestTimes(config, began, 0);
    const backends = backendsUntil(deliverBy, facts);
    const claims = await verifyCaller(event, dependencies, facts);
    const parameters = (event.multiValueQueryStringParameters ?? {}) as Record<string, string[]>;
    const accept = requestHeader(event, 'accept');
    // The lake is listed while the register is read. A refusal goes before faults and before a failure of the listing.
    const parsed = begun((async () => parseRequest(report, { parameters, accept }))());
    const listed = begun(parsed.then((request) => readDataState(backends.lake, request, config.listingMs)));
    const caller = await admitCaller(claims, report, config, backends.register, facts);
    const wanted = { request: await parsed, ...caller };
    return answerDelivery(dependencies, {
      event,
      waitUntil,
      askedAt: began,
      facts,
      backends,
      wanted,
      data: await listed,
      remember: async (handover) => ({
        ticket: await issueTicket(backendsUntil(answerBy).results, wanted, parameters, handover),
        hop: 1,
      }),
    });
  });
}
