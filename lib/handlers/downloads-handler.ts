import type { APIGatewayProxyResult } from 'aws-lambda';
import { NoSuchDownload } from '../answers/problem.ts';
import { readTicket, updateTicket } from '../delivery/ticket.ts';
import { reports } from '../report/catalogue.ts';
import { parseRequest } from '../report/parse-request.ts';
import { answerBy, answerDelivery } from './answer-delivery.ts';
import type { FunctionParts } from './function-parts.ts';
import { problemChain } from './problem-chain.ts';

/**
 * GET /reporting/downloads/{ticket}/{hop}: the waiting room of reports that take longer than one request. The
 * ticket is all that it takes: an Authorization header, which some clients keep and some drop, is not looked at.
 *
 * - 303 with the download URL in `Location`, or with the next hop's
 * - 404 where the ticket is unknown or has expired
 * - 500 and 503 as for the report itself
 */
export function downloadsHandler(parts: FunctionParts) {
  return problemChain(parts).handler(async (event, { facts, began }): Promise<APIGatewayProxyResult> => {
    const id = event.pathParameters?.['ticket'] ?? '';
    const hop = /^\d{1,6}$/.exec(event.pathParameters?.['hop'] ?? '')?.[0];
    if (hop === undefined) throw new NoSuchDownload();
    const { results } = parts.partsUntil(answerBy(parts, began));
    const read = await readTicket(results, id, began);
    const { ticket } = read;
    const report = reports.find(({ name }) => name === ticket.report);
    if (!report) throw new NoSuchDownload();
    facts.report = ticket.report;
    facts.client = ticket.client;
    facts.hop = Number(hop);

    return answerDelivery(parts, {
      event,
      began,
      hop: Number(hop),
      facts,
      wanted: {
        // What it accepts was settled by the request that got the ticket.
        request: parseRequest(report, { parameters: ticket.parameters, accept: undefined }),
        entitlement: ticket.companies === 'every-company' ? ticket.companies : ticket.companies.map(BigInt),
      },
      callerWaits: ticket,
      left: ticket.progress,
      remember: async (progress) => {
        await updateTicket(results, read, progress);
        return { ticket: id, hop: Number(hop) + 1 };
      },
    });
  });
}
