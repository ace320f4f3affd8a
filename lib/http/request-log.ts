import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { Problem } from '../problem.ts';

/** What one line of the log may say beside the fixed facts: an allow-list by construction. */
export interface LoggedFacts {
  report?: string;
  /** The token's client id. */
  client?: string;
  queryExecutionId?: string;
  bytesScanned?: number;
  engineMs?: number;
  queryMs?: number;
  publishMs?: number;
}

export interface LoggedContext extends Context {
  readonly facts: LoggedFacts;
}

/** Where the lines go: Powertools' logger fits. */
export interface LineLog {
  info(message: string, facts: object): void;
  error(message: string, facts: object): void;
}

/**
 * Writes one line per request: who, what, outcome, durations. A 5xx is an error and carries its cause; headers,
 * tokens, filter values and download URLs have no way in.
 */
export function requestLog(
  log: LineLog,
): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult, Error, LoggedContext> {
  return {
    before: (request) => {
      Object.assign(request.context, { facts: {} });
      request.internal['began'] = Date.now();
    },
    after: ({ event, context, response, internal }) => {
      log.info('request', line(event, context, response, internal['began']));
    },
    onError: ({ event, context, response, error, internal }) => {
      const facts = line(event, context, response, internal['began']);
      if (error instanceof Problem) log.info('request', { ...facts, problem: error.slug });
      else log.error('request', { ...facts, error });
    },
  };
}

const line = (
  event: APIGatewayProxyEvent,
  { facts }: LoggedContext,
  response: APIGatewayProxyResult | null | undefined,
  began: unknown,
) => ({
  requestId: event.requestContext.requestId,
  status: response?.statusCode,
  durationMs: Date.now() - Number(began),
  ...facts,
});
