import { NOTE } from '../http/redirect.ts';
import {
  gatewayProblems,
  otherGatewayProblems,
  refusedByFirewall,
  requestTooLarge,
} from '../problems/gateway-problems.ts';
import type { Report } from '../report/catalogue.ts';
import { exampleCsv, exampleRequests } from './example-requests.ts';
import { problemReferences } from './problem-responses.ts';
import { reportParameters } from './report-parameters.ts';
import { type Part, reference } from './schema.ts';

/** The statuses that the gateway may answer by itself, to any request that has a route. */
export const GATEWAY_STATUSES = [
  ...Object.values(gatewayProblems).filter((problem) => problem !== gatewayProblems.notFound),
  ...Object.values(otherGatewayProblems),
  requestTooLarge,
  refusedByFirewall,
].map(({ status }) => status);

/** The response 303, for `components`. */
export const seeOther: Part = {
  description: 'The report is ready, or is being made. GET the Location, without an Authorization header.',
  headers: {
    Location: reference('headers', 'DownloadOrWaitingRoom'),
    'Cache-Control': reference('headers', 'Cache-Control'),
    'Cache-Status': reference('headers', 'Cache-Status'),
    Vary: reference('headers', 'Vary'),
  },
  content: {
    'text/plain': {
      schema: { type: 'string' },
      examples: Object.fromEntries(Object.entries(NOTE).map(([name, value]) => [name, { value }])),
    },
  },
};

/**
 * The answer of the download URL. The service does not send it, but clients that follow redirects get it
 * (docs/contract.md#the-redirect).
 */
const csvResponse = (examples: Part): Part => ({
  description:
    'The report, as a client that follows redirects gets it from the download URL. Numbers have no quotes, texts ' +
    'and times have double quotes, and an unknown value is an empty field.',
  headers: { 'Content-Encoding': reference('headers', 'Content-Encoding') },
  content: { 'text/csv': { schema: { type: 'string' }, examples } },
});

/** A report's title as a name in code: `PublisherPerformanceReport`. */
export const pascalCase = (title: string): string =>
  title.replaceAll(/(?:^|\s+)(\w)/g, (_, first: string) => first.toUpperCase());

/** GET /reporting/{report} (docs/contract.md#the-two-reports). */
export const reportOperation = (report: Report, security: readonly Part[]): Part => ({
  operationId: `get${pascalCase(report.title)}`,
  summary: report.title,
  description:
    'Answers with a redirect to the report as a CSV file. Clients that follow redirects get the file.',
  tags: ['Reports'],
  security,
  parameters: reportParameters(report),
  responses: {
    200: csvResponse(
      Object.fromEntries(
        Object.entries(exampleRequests(report)).map(([name, request]) => [
          name,
          { summary: request.summary, value: exampleCsv(report, request) },
        ]),
      ),
    ),
    303: reference('responses', 'SeeOther'),
    ...problemReferences([...GATEWAY_STATUSES, 401, 404, 503]),
  },
});

/** GET /reporting/downloads/{ticket}/{hop}. Clients take this URL from `Location` only. */
export const waitingRoomOperation: Part = {
  operationId: 'waitForReport',
  summary: 'Waiting room of a report under way',
  description:
    'Where `Location` leads while a report is being made. It answers when the report is ready or, after a while, ' +
    'with the next URL of the waiting room. Take its URLs from `Location`; they need no access token.',
  tags: ['Reports'],
  security: [],
  parameters: [
    {
      name: 'ticket',
      in: 'path',
      required: true,
      description: 'Identifies the report. Anyone who has it can get the report.',
      schema: { type: 'string' },
    },
    {
      name: 'hop',
      in: 'path',
      required: true,
      description: 'Counts the redirects, so that no two URLs are the same.',
      schema: { type: 'integer', minimum: 1 },
    },
  ],
  responses: {
    200: csvResponse({}),
    303: reference('responses', 'SeeOther'),
    ...problemReferences([...GATEWAY_STATUSES, 404, 503]),
  },
};

/** GET /openapi.json. */
export const documentOperation = (mediaType: string): Part => ({
  operationId: 'getOpenApiDocument',
  summary: 'This document',
  tags: ['Description'],
  security: [],
  responses: {
    200: {
      description: 'The service as it is deployed here, in OpenAPI 3.1.',
      headers: {
        'Cache-Control': { required: true, schema: { type: 'string', pattern: '^private, max-age=\\d+$' } },
        Vary: reference('headers', 'Vary'),
      },
      content: {
        [mediaType]: {
          schema: {
            type: 'object',
            required: ['openapi', 'info', 'paths'],
            properties: {
              openapi: { type: 'string', pattern: '^3\\.1\\.' },
              info: { type: 'object' },
              paths: { type: 'object' },
            },
          },
        },
      },
    },
    ...problemReferences(GATEWAY_STATUSES),
  },
});
