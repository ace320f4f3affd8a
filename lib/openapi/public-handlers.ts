import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { scopeOf } from '../access/verify-token.ts';
import type { Config } from '../config.ts';
import type { FunctionDependencies } from '../http/function-dependencies.ts';
import { problemChain } from '../http/problem-chain.ts';
import { requestHeader } from '../http/request-header.ts';
import { type Field, type Levels, reports, valuesOf } from '../report/catalogue.ts';
import { MAX_TEXT_CHARACTERS, TIME_FILTER_FORM } from '../report/filter.ts';
import { API_VERSIONS, MAX_WINDOW_DAYS } from '../report/parse-request.ts';
import { UTC_TIME_FORM } from '../report/utc-time.ts';
import { pathOf, reportPath } from '../routes.ts';
import { openApiDocument } from './document.ts';

/** GET /openapi.json: the service in OpenAPI 3.1, with the URL at which this caller reached it. Needs no token. */
export function openApiHandler(dependencies: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'>) {
  const { config } = dependencies;
  return problemChain(dependencies).handler(
    async (event): Promise<APIGatewayProxyResult> => ({
      statusCode: 200,
      headers: {
        'Content-Type': 'application/json',
        // Shared caches must not store the document, because it holds the URL at which this caller reached the service.
        'Cache-Control': 'private, max-age=300',
        // The gateway gzips the body for callers that accept gzip.
        Vary: 'Accept-Encoding',
      },
      body: JSON.stringify(
        openApiDocument({
          url: serviceUrl(event, pathOf('openapi')) ?? '/',
          scope: scopeOf(config.token),
          commit: config.commit,
          tokenEndpoint: config.access.tokenEndpoint,
          queriesAtATime: config.queriesPerPartner,
          longestReportSeconds: Math.ceil(config.longestQueryMs / 1_000),
        }),
      ),
    }),
  );
}

const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i;
const DEFAULT_PORT: Readonly<Record<string, string>> = { http: '80', https: '443' };

/**
 * The service's URL, as this caller sees it: scheme, host, and the base path of a stage or a custom domain. The host is
 * the one that the gateway serves, never the caller's Host header. Scheme and port come from headers, if valid.
 * Undefined if the gateway names no valid host, or a path that does not end with `route`.
 *
 * @param route the path of the route that the caller asked for
 */
export function serviceUrl(event: APIGatewayProxyEvent, route: string): string | undefined {
  const { domainName, path } = event.requestContext;
  if (domainName === undefined || !HOST.test(domainName) || !path.endsWith(route)) return undefined;
  const scheme = requestHeader(event, 'x-forwarded-proto') === 'http' ? 'http' : 'https';
  const port = /^\d{1,5}$/.exec(requestHeader(event, 'x-forwarded-port') ?? '')?.[0];
  const explicitPort = port === undefined || port === DEFAULT_PORT[scheme] ? '' : `:${port}`;
  return `${scheme}://${domainName}${explicitPort}${path.slice(0, -route.length)}`;
}

/** GET /reporting/fields: the reports, their fields and the limits of a request, as JSON. Needs no token. */
export function fieldsHandler(dependencies: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'>) {
  const body = JSON.stringify(describeFields(dependencies.config));
  return problemChain(dependencies).handler(
    async (): Promise<APIGatewayProxyResult> => ({
      statusCode: 200,
      headers: {
        'Content-Type': 'application/json',
        'Cache-Control': 'public, max-age=300',
        // The gateway gzips the body for callers that accept gzip.
        Vary: 'Accept-Encoding',
      },
      body,
    }),
  );
}

/**
 * The catalogue as `GET /reporting/fields` shows it: the reports, their fields and the limits of a request. It includes
 * the currency and how to get access, if the operator has set them.
 */
export const describeFields = ({
  currency,
  access,
  longestQueryMs,
  finalAfterHours,
  queriesPerPartner,
}: Pick<Config, 'currency' | 'access' | 'longestQueryMs' | 'finalAfterHours' | 'queriesPerPartner'>) => ({
  apiVersions: API_VERSIONS,
  timeZone: 'UTC',
  timeForm: UTC_TIME_FORM,
  ...(currency !== undefined && { currency }),
  ...(Object.keys(access).length > 0 && { access }),
  ...(finalAfterHours !== undefined && { finalAfterHours }),
  limits: {
    windowDays: MAX_WINDOW_DAYS,
    longestReportSeconds: Math.ceil(longestQueryMs / 1_000),
    ...(queriesPerPartner !== undefined && { queriesAtATime: queriesPerPartner }),
    filterTextCharacters: MAX_TEXT_CHARACTERS,
    filterTimeForms: TIME_FILTER_FORM,
  },
  reports: reports.map((report) => ({
    name: report.name,
    title: report.title,
    path: reportPath(report),
    fields: report.fields.map((field) => describeField(field, report.levels)),
  })),
});

/** One field as callers see it, without its column and its table. */
const describeField = (field: Field, levels: Levels | undefined) => ({
  name: field.name,
  role: field.role,
  type: field.type,
  meaning: field.meaning,
  values: valuesOf(field),
  groupable: field.role === 'dimension',
  filterable: field.role === 'dimension',
  ...(field.role === 'dimension' && field.type === 'datetime' && { grain: field.grain }),
  ...(field.role === 'metric' && { isAmount: field.type === 'float' }),
  ...(levels?.metric === field && {
    countedBy: { whereGroupedBy: levels.finer.name, otherwise: levels.coarser.name },
  }),
});
