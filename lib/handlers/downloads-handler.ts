import type { APIGatewayProxyResult } from 'aws-lambda';
import { NoSuchDownload } from '../answers/problem.ts';
import { readTicket, updateTicket } from '../delivery/ticket.ts';
import { type Verdict, verdictOnPartner } from '../partners/whose-rows.ts';
import { reportOf } from '../report/catalogue.ts';
import { parseRequest } from '../report/parse-request.ts';
import type { Entitlement } from '../report/row-predicates.ts';
import { answerBy, answerDelivery } from './answer-delivery.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { noteCaller } from './note-caller.ts';
import { problemChain } from './problem-chain.ts';

/**
 * GET /reporting/downloads/{ticket}/{hop}: the waiting room of reports that take longer than one request. The
 * ticket is all that it takes: an Authorization header, which some clients keep and some drop, is not looked at.
 *
 * - 303 with the download URL in `Location`, or with the next hop's
 * - 404 where the ticket is unknown or has expired, or its partner has lost the right to the report meanwhile: a 401
 *   would ask for a token, which is not looked at here; the report's own URL tells the partner more
 * - 500 and 503 as for the report itself
 */
export function downloadsHandler(dependencies: FunctionDependencies) {
  return problemChain(dependencies).handler(
    async (event, { facts, began }): Promise<APIGatewayProxyResult> => {
      const id = event.pathParameters?.['ticket'] ?? '';
      const hop = /^\d{1,6}$/.exec(event.pathParameters?.['hop'] ?? '')?.[0];
      if (hop === undefined) throw new NoSuchDownload();
      const { results, register } = dependencies.backendsUntil(answerBy(dependencies, began));
      const read = await readTicket(results, id, began);
      const { ticket } = read;
      const report = reportOf(ticket.report);
      if (!report) throw new NoSuchDownload();
      facts.report = ticket.report;
      facts.client = ticket.client;
      facts.partner = ticket.client;
      facts.hop = Number(hop);

      // The Accept header was checked by the request that got the ticket.
      const request = parseRequest(report, { parameters: ticket.parameters, accept: undefined });
      const given: Entitlement =
        ticket.companies === 'every-company' ? ticket.companies : ticket.companies.map(BigInt);
      // There is no token here: without a register, the ticket opens what its token opened.
      const verdict: Verdict =
        dependencies.config.entitlements.by === 'partners'
          ? verdictOnPartner(await register.find(ticket.client), report)
          : { state: 'entitled', entitlement: given };
      noteCaller(facts, verdict);
      if (verdict.state === 'refused') throw new NoSuchDownload();
      const { entitlement } = verdict;
      const companies = entitlement === 'every-company' ? entitlement : entitlement.map(String);
      // The companies changed meanwhile: the old report is no longer waited for, and the new one is begun.
      const isSame = JSON.stringify(companies) === JSON.stringify(ticket.companies);

      return answerDelivery(dependencies, {
        event,
        began,
        hop: Number(hop),
        facts,
        wanted: { request, entitlement, client: ticket.client },
        callerWaits: ticket,
        ...(isSame && { left: ticket.progress }),
        remember: async (progress) => {
          await updateTicket(results, read, { progress, companies });
          return { ticket: id, hop: Number(hop) + 1 };
        },
      });
    },
  );
}
