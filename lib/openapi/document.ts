import { reports } from '../report/catalogue.ts';
import { API_VERSIONS } from '../report/parse-request.ts';
import { daysFunction, pathOf } from '../routes.ts';
import { daysOperation } from './days-operation.ts';
import { fieldsOperation } from './fields-operation.ts';
import { headers } from './headers.ts';
import { documentOperation, reportOperation, seeOther, waitingRoomOperation } from './operations.ts';
import { problemResponses, problemSchemas } from './problem-responses.ts';
import { commonParameters } from './report-parameters.ts';
import type { Part } from './schema.ts';

export const OPENAPI_MEDIA_TYPE = 'application/json';

export interface Deployment {
  /**
   * The service's URL, without a slash at its end. If the URL is not known: `/`, the root of the host that serves the
   * document.
   */
  readonly url: string;
  /** The scope that callers request their tokens with. */
  readonly scope: string;
  /** The deployed commit. Absent if it is not known, as in the documentation. */
  readonly commit?: string;
}

/**
 * Describes the service in OpenAPI 3.1. The document is made from the catalogue and the rules that the service uses
 * itself, so the two can't differ.
 */
export const openApiDocument = ({ url, scope, commit }: Deployment): Part => ({
  openapi: '3.1.1',
  info: {
    title: 'Performance reports',
    version: API_VERSIONS.at(-1),
    ...(commit !== undefined && { 'x-commit': commit }),
    license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    description:
      'Publisher and advertiser reports: one GET answers with a CSV. Choose the fields, a window of time, and what ' +
      'to filter by; follow the redirect.\n\nEvery error is a problem document (RFC 9457). HEAD answers as GET does, ' +
      'without the body: it makes the report too.\n\nA version that will be removed is announced a year ahead, by the headers ' +
      '`Deprecation` (RFC 9745) and `Sunset` (RFC 8594) of every answer to it.',
  },
  servers: [{ url }],
  tags: [
    { name: 'Reports', description: 'Performance reports, and how to get them.' },
    { name: 'Description', description: 'What the service is.' },
  ],
  paths: {
    ...Object.fromEntries(
      reports.map((report) => [
        pathOf(report.name),
        { get: reportOperation(report, [{ accessToken: [scope] }]) },
      ]),
    ),
    ...Object.fromEntries(
      reports.map((report) => [
        pathOf(daysFunction(report)),
        { get: daysOperation(report, [{ accessToken: [scope] }]) },
      ]),
    ),
    [pathOf('downloads')]: { get: waitingRoomOperation },
    [pathOf('openapi')]: { get: documentOperation(OPENAPI_MEDIA_TYPE) },
    [pathOf('fields')]: { get: fieldsOperation },
  },
  components: {
    securitySchemes: {
      accessToken: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description:
          `An OAuth 2.0 access token that was requested with the scope \`${scope}\`. The operator says ` +
          'where and how to request one.',
      },
    },
    parameters: commonParameters,
    headers: headers(scope),
    schemas: problemSchemas,
    responses: { SeeOther: seeOther, ...problemResponses(scope) },
  },
});
