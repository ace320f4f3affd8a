import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { LONGEST_PAUSE_MS } from '../aws/call.ts';
import type { Config } from '../config.ts';
import { deliverReport } from '../delivery/deliver-report.ts';
import type { CacheStatus, DeliveryBackends, DeliveryFacts, Wanted } from '../delivery/delivery.ts';
import { LIMIT_TOLERANCE } from '../delivery/execution.ts';
import {
  FIRST_WAIT_MS,
  LAST_CALLS_MS,
  LEAST_WAIT_MS,
  PUBLISH_TIMEOUT_SECONDS,
  TICKET_MS,
} from '../function-settings.ts';
import type { DataState } from '../lake/data-version.ts';
import { CACHE_STATUS, HEADER, NOTE } from '../response-headers.ts';
import type { Handover, Progress } from '../results/ticket.ts';
import { BASE_PATH, downloadPath } from '../routes.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { acceptsGzip, requestHeader } from './request-header.ts';
import { auditedFacts, type LoggedFacts } from './request-log.ts';

/** How long a caller waits for its query: a little longer than it may queue and run, so that it is stopped first. */
const callerWaitMs = ({ longestQueryMs }: Config): number =>
  longestQueryMs + (1 + LIMIT_TOLERANCE) * longestQueryMs;

/** Until when (milliseconds since 1970) a caller may wait for its report, also if it must be published. */
export const publishUntil = (config: Config, askedAt: number): number =>
  askedAt + callerWaitMs(config) + PUBLISH_TIMEOUT_SECONDS * 1_000;

/**
 * In milliseconds since 1970. `waitUntil`: when a request for a report must be answered. `deliverBy`: when its calls to
 * AWS end, soon after, so that the first answer is not late, and never before `FIRST_WAIT_MS`. `answerBy`: when storing
 * the ticket ends, with all the time that the gateway leaves, because a late answer is better than an error. The first
 * request waits a short time, because some clients have short time-outs; later ones wait long, because some follow few
 * redirects (docs/decisions/0030).
 * @param began when the request came to the gateway, perhaps by a clock that is behind this machine's
 * @param hop 0 for the request for the report itself; n for the nth waiting hop
 */
export function requestTimes({ queryWaitMs }: Pick<Config, 'queryWaitMs'>, began: number, hop: number) {
  const waitMs = hop === 0 ? Math.min(FIRST_WAIT_MS, queryWaitMs) : queryWaitMs;
  const waitUntil = Math.max(began + waitMs, Date.now() + Math.min(waitMs, LEAST_WAIT_MS));
  const firstAnswer = began + FIRST_WAIT_MS;
  return {
    waitUntil,
    deliverBy: Math.max(waitUntil, firstAnswer) + LAST_CALLS_MS,
    answerBy: Math.max(began + queryWaitMs, firstAnswer, waitUntil) + TICKET_MS,
  };
}

/**
 * When the caller of a hop sent its first request, at the latest: for a hop whose ticket can't be read. Each hop before
 * it lasted until its `waitUntil`, or, if its calls were throttled, nearly until its `deliverBy`.
 */
export function askedAtTheLatest(config: Config, began: number, hop: number): number {
  const { waitUntil, deliverBy } = requestTimes(config, began, hop);
  const shortestHopMs = Math.min(waitUntil, deliverBy - LONGEST_PAUSE_MS) - began;
  return began - (hop - 1) * shortestHopMs;
}

interface DeliveryRequest {
  readonly event: APIGatewayProxyEvent;
  readonly waitUntil: number;
  /** When the caller sent its first request. */
  readonly askedAt: number;
  /** Since when the caller has had its companies, which may have changed while it waited. */
  readonly entitledAt?: number;
  readonly facts: LoggedFacts;
  readonly backends: DeliveryBackends;
  readonly wanted: Wanted;
  readonly data: DataState;
  /** The progress that the caller's previous request stored. */
  readonly left?: Progress;
  /** Stores the delivery's progress; resolves to the next place in the waiting room. */
  readonly remember: (handover: Handover) => Promise<Place>;
}

/** Where a caller waits: the parts of a waiting URL. No URL twice, because some clients refuse that. */
interface Place {
  readonly ticket: string;
  readonly hop: number;
}

/** Answers with a redirect, to the report or to the waiting room (docs/contract.md#the-redirect). */
export async function answerDelivery(
  { config, log }: Pick<FunctionDependencies, 'config' | 'log'>,
  request: DeliveryRequest,
): Promise<APIGatewayProxyResult> {
  const { event, waitUntil, askedAt, entitledAt = askedAt, facts, backends, wanted, data } = request;
  const terms = {
    ...config,
    longestQueueMs: config.longestQueryMs,
    askedAt: entitledAt,
    waitUntil,
    giveUpAt: askedAt + callerWaitMs(config),
    publishUntil: publishUntil(config, askedAt),
    acceptsGzip: acceptsGzip(requestHeader(event, 'accept-encoding')),
    partner: facts.partner,
  };
  const note = (newFacts: DeliveryFacts) => {
    const finishedQueries = [...(facts.finishedQueries ?? []), ...(newFacts.finishedQueries ?? [])];
    Object.assign(facts, newFacts, finishedQueries.length > 0 && { finishedQueries });
  };
  const delivery = await deliverReport({ backends, wanted, terms, note }, data, request.left);
  const { cacheStatus } = delivery;
  Object.assign(facts, { isReady: delivery.state === 'ready', cacheStatus });
  if (delivery.state === 'waiting') {
    const times = { waitedMs: Date.now() - askedAt, entitledMs: Date.now() - entitledAt };
    const place = await request.remember({ progress: delivery.progress, ...times });
    return redirectToWaitingRoom(event, place, cacheStatus);
  }
  const { key, bytes, dataVersion, whyEmpty } = delivery;
  const url = await backends.results.presign(key, config.downloadUrlSeconds, bytes);
  const { requestId } = event.requestContext;
  log.info('download', { requestId, ...auditedFacts(facts, wanted, delivery) });
  return seeOther(url, cacheStatus, NOTE.download, {
    ...(dataVersion && { [HEADER.dataVersion]: dataVersion }),
    ...(whyEmpty && { [HEADER.reportEmpty]: whyEmpty }),
  });
}

export function redirectToWaitingRoom(
  { requestContext: { path } }: APIGatewayProxyEvent,
  { ticket, hop }: Place,
  cacheStatus: CacheStatus,
): APIGatewayProxyResult {
  const base = path.slice(0, path.lastIndexOf(`${BASE_PATH}/`));
  return seeOther(`${base}${downloadPath(ticket, hop)}`, cacheStatus, NOTE.waitingRoom);
}

/** The location is the caller's secret, so no cache may store the answer. */
const seeOther = (
  location: string,
  cacheStatus: CacheStatus,
  note: string,
  headers: Readonly<Record<string, string>> = {},
): APIGatewayProxyResult => ({
  statusCode: 303,
  headers: {
    Location: location,
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    // `Accept-Encoding` decides which of a report's two files the location leads to.
    Vary: 'Accept-Encoding',
    'Cache-Status': CACHE_STATUS[cacheStatus],
    ...headers,
  },
  body: note,
});
