import { NOTE } from '../http/redirect.ts';
import { DAY_STATES, HABIT_DAYS } from '../lake/day-states.ts';
import {
  gatewayProblems,
  otherGatewayProblems,
  refusedByFirewall,
  requestTooLarge,
} from '../problems/gateway-problems.ts';
import { type Report, reports } from '../report/catalogue.ts';
import { MAX_STATE_DAYS } from '../report/parse-days-request.ts';
import { patternOf, UTC_TIME_FORM } from '../report/utc-time.ts';
import { exampleCsv, exampleRequests } from './example-requests.ts';
import { problemReferences } from './problem-responses.ts';
import { reportParameters } from './report-parameters.ts';
import { type Part, reference } from './schema.ts';

/** What the gateway may answer to any request that has a route. */
export const GATEWAY_STATUSES = [
  ...Object.values(gatewayProblems).filter((problem) => problem !== gatewayProblems.notFound),
  ...Object.values(otherGatewayProblems),
  requestTooLarge,
  refusedByFirewall,
].map(({ status }) => status);

/** 303, for `components`. */
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
 * What the download URL answers, not the service; here because clients follow redirects
 * (docs/contract.md#the-redirect).
 */
const csvResponse = (examples: Part): Part => ({
  description:
    'The report, as a client that follows redirects gets it from the download URL. Numbers stand bare, texts ' +
    'and times in double quotes, and what is not known is an empty field.',
  headers: { 'Content-Encoding': reference('headers', 'Content-Encoding') },
  content: { 'text/csv': { schema: { type: 'string' }, examples } },
});

/** A report's title as a name in code: `PublisherPerformanceReport`. */
const pascalCase = (title: string): string =>
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

/** GET /reporting/{report}/days */
export const daysOperation = (report: Report, security: readonly Part[]): Part => ({
  operationId: `getDaysOf${pascalCase(report.title)}`,
  summary: `Days of the ${report.title.toLowerCase()}`,
  description:
    'Which days of the window hold events, which of them are complete, and which have changed since: keep the ' +
    `versions of what you have pulled, and pull the days whose version is another. At most ${MAX_STATE_DAYS} days.`,
  tags: ['Reports'],
  security,
  parameters: [
    reference('parameters', 'startInclusive'),
    reference('parameters', 'daysEndExclusive'),
    reference('parameters', 'api-version'),
  ],
  responses: {
    200: {
      description: 'The days that hold events, in their order, as they are at this moment.',
      headers: { 'Cache-Control': reference('headers', 'Cache-Control') },
      content: { 'application/json': { schema: daysSchema } },
    },
    ...problemReferences([...GATEWAY_STATUSES, 401, 404, 503]),
  },
});

/** The schema of what `days` answers. */
const daysSchema: Part = {
  type: 'object',
  required: ['report', 'startInclusive', 'endExclusive', 'days'],
  properties: {
    report: { type: 'string', enum: reports.map(({ name }) => name) },
    startInclusive: { type: 'string', pattern: patternOf(UTC_TIME_FORM) },
    endExclusive: { type: 'string', pattern: patternOf(UTC_TIME_FORM) },
    days: {
      type: 'array',
      items: {
        type: 'object',
        required: ['day', 'startInclusive', 'endExclusive', 'state', 'version'],
        properties: {
          day: { type: 'string', pattern: patternOf('YYYY-MM-DD'), description: 'UTC.' },
          startInclusive: {
            type: 'string',
            pattern: patternOf(UTC_TIME_FORM),
            description: 'The midnight that begins the day, also where the window begins later.',
          },
          endExclusive: {
            type: 'string',
            pattern: patternOf(UTC_TIME_FORM),
            description:
              'The midnight that begins the next day, also where the window ends earlier. From startInclusive to ' +
              'endExclusive is the window of a report of exactly this day.',
          },
          state: {
            type: 'string',
            enum: DAY_STATES,
            description:
              '`final`: complete, until it is opened again. `open`: more may come. `unknown`: the data do not say ' +
              `(no day of the window and of the ${HABIT_DAYS} days before it is marked as complete).`,
          },
          version: {
            type: 'string',
            minLength: 1,
            description:
              'Changes when the data of the day change, and only then. Compare it for equality; nothing else is promised ' +
              'of it. A report of exactly this day has it in `Data-Version`.',
          },
        },
      },
    },
  },
  example: {
    report: reports[0]?.name,
    startInclusive: '2026-01-31T00:00:00Z',
    endExclusive: '2026-02-02T00:00:00Z',
    days: [
      {
        day: '2026-01-31',
        startInclusive: '2026-01-31T00:00:00Z',
        endExclusive: '2026-02-01T00:00:00Z',
        state: 'final',
        version: '0b7f2a4be9a1c6d83c1f5a9d27e0b6c4',
      },
      {
        day: '2026-02-01',
        startInclusive: '2026-02-01T00:00:00Z',
        endExclusive: '2026-02-02T00:00:00Z',
        state: 'open',
        version: '5ad0c3e2f1884be7a6b9d01c3e4f7a28',
      },
    ],
  },
};

/** GET /reporting/downloads/{ticket}/{hop}: reached through `Location` alone. */
export const waitingRoomOperation: Part = {
  operationId: 'waitForReport',
  summary: 'Waiting room of a report under way',
  description:
    'Where `Location` leads while a report is being made. It answers when the report is ready or, after a while, ' +
    'with the next URL of the waiting room. Its URLs are not to be made up, and need no access token.',
  tags: ['Reports'],
  security: [],
  parameters: [
    {
      name: 'ticket',
      in: 'path',
      required: true,
      description: 'Stands for the report. Whoever has it can have the report.',
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
