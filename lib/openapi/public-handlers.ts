import type { APIGatewayProxyResult } from 'aws-lambda';
import { scopeOf } from '../access/verify-token.ts';
import type { Config } from '../config.ts';
import type { FunctionDependencies } from '../http/function-dependencies.ts';
import { problemChain } from '../http/problem-chain.ts';
import { serviceUrl } from '../http/request-header.ts';
import { type Field, type Levels, reports, valuesOf } from '../report/catalogue.ts';
import { MAX_TEXT_CHARACTERS, TIME_FILTER_FORM } from '../report/filter.ts';
import { API_VERSIONS, MAX_WINDOW_DAYS } from '../report/parse-request.ts';
import { UTC_TIME_FORM } from '../report/utc-time.ts';
import { reportPath } from '../routes.ts';
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
          url: serviceUrl(event) ?? '/',
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
