import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { Config } from '../config.ts';
import { type Clients, deliverReport } from '../delivery/deliver-report.ts';
import type { Report } from '../report/catalogue.ts';
import { parseRequest } from '../report/parse-request.ts';
import { entitle } from '../token/entitle.ts';
import type { TokenVerifier } from '../token/verify-token.ts';
import { problemResponse } from './problem-response.ts';
import { type LineLog, type LoggedContext, requestLog } from './request-log.ts';

export interface ReportHandlerParts {
  readonly config: Config;
  readonly clients: Clients;
  readonly verifyToken: TokenVerifier;
  readonly log: LineLog;
}

/**
 * GET /reporting/{report}?requestedFields=Day,Clicks&startInclusive=…&endExclusive=…&api-version=1.0
 * (contract 4.3, 4.4)
 *
 * - 303 with the download URL in `Location`
 * - 400 that lists every fault of the request
 * - 401 without a good token for this API; checked before anything else
 * - 500 when something of ours fails, 503 when the same request will do later
 */
export function reportHandler(report: Report, { config, clients, verifyToken, log }: ReportHandlerParts) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, LoggedContext>()
    .use(requestLog(log))
    .onError((request) => {
      request.response = problemResponse(request.error, request.event.requestContext.requestId);
    })
    .handler(async (event, { facts }) => {
      facts.report = report.name;
      const claims = await verifyToken(header(event, 'authorization'));
      facts.client = String(claims['client_id'] ?? claims['azp'] ?? claims['appid'] ?? claims['sub']);
      const entitlement = entitle(claims, report, config);
      facts.companies = entitlement === 'every-company' ? entitlement : entitlement.length;
      const request = parseRequest(report, {
        parameters: event.multiValueQueryStringParameters ?? {},
        accept: header(event, 'accept'),
      });
      const { location, ...delivered } = await deliverReport(clients, config, request, entitlement);
      Object.assign(facts, delivered);
      return { statusCode: 303, headers: { Location: location, 'Cache-Control': 'no-store' }, body: '' };
    });
}

/** A header's values as one, as HTTP joins them; API Gateway leaves the names as the caller wrote them. */
function header({ multiValueHeaders }: APIGatewayProxyEvent, name: string): string | undefined {
  const values = Object.entries(multiValueHeaders ?? {}).flatMap(([key, values]) =>
    key.toLowerCase() === name ? (values ?? []) : [],
  );
  return values.length > 0 ? values.join(', ') : undefined;
}
