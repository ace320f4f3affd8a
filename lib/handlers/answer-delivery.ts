import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { redirectToDownload, redirectToWaitingRoom } from '../answers/redirect.ts';
import { deliverReport } from '../delivery/deliver-report.ts';
import type { DeliveryFacts, DeliveryTerms, Progress, Wanted } from '../delivery/delivery.ts';
import { hopWaitMs } from '../delivery/hop-wait.ts';
import { measured } from '../delivery/measured-results.ts';
import { zippedBeside } from '../delivery/zipped-file.ts';
import { admitsGzip } from './admits-gzip.ts';
import { auditedFacts } from './audited-facts.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import type { LoggedFacts } from './logged-facts.ts';
import { requestHeader } from './request-header.ts';

/** The time that is left to a request after its wait, to store where its caller waits on and to answer. */
const ANSWER_MS = 2_500;

/** One request for a report, on either route. Times are milliseconds since 1970. */
export interface DeliveryRequest {
  readonly event: APIGatewayProxyEvent;
  readonly began: number;
  /** 0 for the request for the report itself, n for the nth in the waiting room. */
  readonly hop: number;
  readonly facts: LoggedFacts;
  readonly wanted: Wanted;
  readonly callerWaits: Pick<DeliveryTerms, 'giveUpAt' | 'publishUntil'>;
  /** What an earlier request left. */
  readonly left?: Progress;
  /** Writes down how far the delivery has come; resolves to where the caller waits on. */
  readonly remember: (progress: Progress) => Promise<{ readonly ticket: string; readonly hop: number }>;
}

/** The time by which every call to AWS that a request makes has ended. */
export const answerBy = ({ config }: Pick<FunctionDependencies, 'config'>, began: number): number =>
  began + config.queryWaitMs + ANSWER_MS;

/**
 * Delivers a report as far as it can be done within one request, and answers with where it is
 * (docs/contract.md#the-redirect).
 */
export async function answerDelivery(
  { config, backendsUntil, log }: FunctionDependencies,
  { event, began, hop, facts, wanted, callerWaits, left, remember }: DeliveryRequest,
): Promise<APIGatewayProxyResult> {
  const waitUntil = began + hopWaitMs(hop, config.queryWaitMs);
  const given = backendsUntil(answerBy({ config }, began), waitUntil);
  const { results, bytesOf } = measured(given.results);
  const backends = { ...given, results };
  const terms: DeliveryTerms = {
    ...callerWaits,
    waitUntil,
    longestQueryMs: config.longestQueryMs,
    listingMs: config.listingMs,
    admitsGzip: admitsGzip(requestHeader(event, 'accept-encoding')),
    maxBytesScanned: config.maxBytesScanned,
    partner: facts.partner,
    queriesPerPartner: config.queriesPerPartner,
  };
  const note = (learnt: DeliveryFacts) => {
    const ends = [...(facts.ends ?? []), ...(learnt.ends ?? [])];
    Object.assign(facts, learnt, ends.length > 0 && { ends });
  };
  const delivery = await deliverReport(backends, wanted, terms, note, left);
  facts.isReady = delivery.state === 'ready';
  if (delivery.state === 'waiting') {
    facts.cacheStatus = delivery.progress.cacheStatus;
    return redirectToWaitingRoom(event, await remember(delivery.progress), facts.cacheStatus);
  }
  facts.cacheStatus = delivery.cacheStatus;
  const key = terms.admitsGzip ? await zippedBeside(backends.results, delivery.key) : delivery.key;
  const url = await backends.results.presign(key, config.downloadUrlSeconds);
  log.info('download', {
    requestId: event.requestContext.requestId,
    ...auditedFacts(facts, wanted, { bytes: bytesOf(key), dataVersion: delivery.dataVersion }),
  });
  return redirectToDownload(url, delivery);
}
