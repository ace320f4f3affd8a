import { type Verdict, verdictOnPartner } from '../access/whose-rows.ts';
import { begun } from '../begun.ts';
import { readDataState } from '../lake/data-version.ts';
import { NoSuchDownload, Overloaded } from '../problems/problem.ts';
import { storedEntitlement } from '../report/entitlement.ts';
import { openTicket, updateTicket } from '../results/ticket.ts';
import {
  answerDelivery,
  askedAtTheLatest,
  publishUntil,
  redirectToWaitingRoom,
  requestTimes,
} from './answer-delivery.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { problemChain } from './problem-chain.ts';
import { noteCaller } from './request-log.ts';

/** A ticket is valid for a minute longer than its caller may wait, so that the last hop can say why it ends. */
const SPARE_MS = 60_000;

/**
 * GET /reporting/downloads/{ticket}/{hop}: the waiting room of reports that take longer than one request. The ticket is
 * enough: an Authorization header, which some clients keep and some drop, is ignored.
 * - 303 with the download URL in `Location`, or with the URL of the next hop. While AWS throttles, each hop leads to the
 *   next one, even if its ticket can't be read, until the caller's time is up
 * - 400 if the query exceeds the scan limit
 * - 404 if the ticket is unknown, has expired or is of no use to this release, if the partner has lost its right to the
 *   report since the first request, or if the lake no longer has a table for the report. A lost right is not answered
 *   401, because that would ask for a token; a request to the report's own URL tells the partner more
 * - 500 as for the report itself, 503 if the caller's time is up
 */
export function downloadsHandler(dependencies: FunctionDependencies) {
  const { config, backendsUntil } = dependencies;
  return problemChain(dependencies, { endsReport: true }).handler(async (event, { facts, began }) => {
    const { ticket: id = '', hop: digits = '' } = event.pathParameters ?? {};
    if (!/^\d{1,6}$/.test(digits)) throw new NoSuchDownload();
    const hop = Number(digits);
    facts.hop = hop;
    const next = { ticket: id, hop: hop + 1 };
    let askedAt = askedAtTheLatest(config, began, hop);
    try {
      const { waitUntil, deliverBy, answerBy } = requestTimes(config, began, hop);
      const backends = backendsUntil(deliverBy, facts);
      const { results, register, lake } = backends;
      const waits = await openTicket(results, id);
      // The ticket says how long the caller had waited when it was read, which may have taken long.
      askedAt = Date.now() - waits.waitedMs;
      if (waits.waitedMs > publishUntil(config, 0) + SPARE_MS) throw new NoSuchDownload();
      const { request, ticket } = waits;
      const { client, progress } = ticket;
      const { report } = request;
      Object.assign(facts, { report: report.name, client, partner: client });
      // There is no token here. Without a register, the ticket grants what the first request's token granted.
      const registered = config.entitlements.by === 'partners' ? begun(register.find(client)) : undefined;
      // The lake is listed while the register is read. A refusal goes before a failure of the listing.
      const list = () => readDataState(lake, request, config.listingMs);
      const listed = progress.waitsFor === 'slot' ? begun(list()) : undefined;
      const verdict: Verdict = registered
        ? verdictOnPartner(await registered, report)
        : { state: 'entitled', entitlement: waits.entitlement };
      noteCaller(facts, verdict);
      if (verdict.state === 'refused') throw new NoSuchDownload();
      const { entitlement } = verdict;
      // If the caller's companies have changed since the ticket was written, the delivery starts over with the new ones.
      const isSame = String(storedEntitlement(entitlement)) === String(storedEntitlement(waits.entitlement));
      const data = isSame && progress.waitsFor === 'attempt' ? progress.data : await (listed ?? list());
      return await answerDelivery(dependencies, {
        event,
        waitUntil,
        askedAt,
        facts,
        backends,
        wanted: { request, entitlement, client },
        data,
        entitledAt: isSame ? askedAt + waits.waitedMs - waits.entitledMs : Date.now(),
        ...(isSame && { left: progress }),
        remember: async (handover) => {
          // If S3 throttles this write, the older ticket stays: the next hop then at worst starts one more query.
          await updateTicket(backendsUntil(answerBy).results, waits, entitlement, handover);
          return next;
        },
      });
    } catch (error) {
      // AWS throttles this hop, but the query or the publication goes on. So the caller waits on, and the next hop reads
      // the ticket and the caller's rights again.
      if (!(error instanceof Overloaded) || Date.now() >= publishUntil(config, askedAt)) throw error;
      facts.isReady = false;
      facts.cacheStatus ??= 'miss';
      if (error.cause instanceof Error) facts.cause = error.cause.message;
      return redirectToWaitingRoom(event, next, facts.cacheStatus);
    }
  });
}
