import type { APIGatewayProxyResult } from 'aws-lambda';
import { NoSuchDownload } from '../answers/problem.ts';
import { redirectToDownload, redirectToWaitingRoom } from '../answers/redirect.ts';
import { presignReport } from '../aws/presign-report.ts';
import { deliverReport } from '../delivery/deliver-report.ts';
import { readTicket, updateTicket } from '../delivery/ticket.ts';
import type { FunctionParts } from './function-parts.ts';
import { deliveryFacts } from './logged-facts.ts';
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
  const { config, results } = parts;
  return problemChain(parts).handler(async (event, { facts, began }): Promise<APIGatewayProxyResult> => {
    const id = event.pathParameters?.['ticket'] ?? '';
    const hop = /^\d{1,6}$/.exec(event.pathParameters?.['hop'] ?? '')?.[0];
    if (hop === undefined) throw new NoSuchDownload();
    const ticket = await readTicket(results, id);
    facts.report = ticket.report;
    facts.hop = Number(hop);
    const { order } = ticket;

    const delivery = await deliverReport(parts, order, began + config.queryWaitMs, ticket.progress);
    Object.assign(facts, deliveryFacts(delivery));
    const { isPublished, progress, cacheStatus } = delivery;
    if (isPublished || !progress)
      return redirectToDownload(
        await presignReport(results, order.key, config.downloadUrlSeconds),
        cacheStatus,
      );
    if (progress.executionId !== ticket.progress.executionId)
      await updateTicket(results, id, { ...ticket, progress });
    return redirectToWaitingRoom(event, { ticket: id, hop: Number(hop) + 1 }, cacheStatus);
  });
}
