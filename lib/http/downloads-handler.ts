import type { APIGatewayProxyResult } from 'aws-lambda';
import { type Verdict, verdictOnPartner } from '../access/whose-rows.ts';
import { begun } from '../delivery/phase.ts';
import { readDataState } from '../lake/read-data-state.ts';
import { NoSuchDownload } from '../problems/problem.ts';
import { storedEntitlement } from '../report/entitlement.ts';
import { openTicket, updateTicket } from '../results/ticket.ts';
import { answerDelivery, requestTimes, ticketLifeMs } from './answer-delivery.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { noteCaller } from './logged-facts.ts';
import { problemChain } from './problem-chain.ts';

/**
 * GET /reporting/downloads/{ticket}/{hop}: the waiting room of reports that take longer than one request. The ticket is
 * enough: an Authorization header, which some clients keep and some drop, is ignored.
 *
 * - 303 with the download URL in `Location`, or with the URL of the next hop
 * - 400 if the query exceeds the scan limit
 * - 404 if the ticket is unknown or has expired, if the partner has lost its right to the report since the first
 *   request, or if the lake no longer has a table for the report. A lost right is not answered 401, because that would
 *   ask for a token; a request to the report's own URL tells the partner more
 * - 500 and 503 as for the report itself
 */
export function downloadsHandler(dependencies: FunctionDependencies) {
  const { config, backendsUntil } = dependencies;
  return problemChain(dependencies, { endsReport: true }).handler(
    async (event, { facts, began }): Promise<APIGatewayProxyResult> => {
      const id = event.pathParameters?.['ticket'] ?? '';
      const hop = Number(/^\d{1,6}$/.exec(event.pathParameters?.['hop'] ?? '')?.[0] ?? Number.NaN);
      if (Number.isNaN(hop)) throw new NoSuchDownload();
      const { waitUntil, deliverBy, answerBy } = requestTimes(config, began, hop);
      const backends = backendsUntil(deliverBy);
      const { results, register, lake } = backends;
      const waits = await openTicket(results, id);
      if (waits.waitedMs > ticketLifeMs(config)) throw new NoSuchDownload();
      const { request, client, progress } = waits;
      const { report } = request;
      Object.assign(facts, { report: report.name, client, partner: client, hop });

      // There is no token here. Without a register, the ticket grants what the first request's token granted.
      const registered = config.entitlements.by === 'partners' ? begun(register.find(client)) : undefined;
      // The lake is listed while the register is read. If the caller is refused, it gets the refusal, even if the
      // listing fails too.
      const listed =
        progress.waitsFor === 'slot' ? begun(readDataState(lake, request, config.listingMs)) : undefined;
      const verdict: Verdict = registered
        ? verdictOnPartner(await registered, report)
        : { state: 'entitled', entitlement: waits.entitlement };
      noteCaller(facts, verdict);
      if (verdict.state === 'refused') throw new NoSuchDownload();
      const { entitlement } = verdict;
      // If the caller's companies have changed since the ticket was written, the delivery starts again with the new
      // ones.
      const isSame = String(storedEntitlement(entitlement)) === String(storedEntitlement(waits.entitlement));
      const data =
        isSame && progress.waitsFor === 'attempt'
          ? progress.data
          : await (listed ?? readDataState(lake, request, config.listingMs));

      return answerDelivery(dependencies, {
        event,
        waitUntil,
        askedAt: began - waits.waitedMs,
        facts,
        backends,
        wanted: { request, entitlement, client },
        data,
        ...(isSame && { left: progress }),
        remember: async (left) => {
          await updateTicket(backendsUntil(answerBy).results, waits, entitlement, left);
          return { ticket: id, hop: hop + 1 };
        },
      });
    },
  );
}
