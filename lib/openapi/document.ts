import type { Config } from '../config.ts';
import { daysAnswer } from '../lake/day-states.ts';
import { type Report, reports } from '../report/catalogue.ts';
import { API_VERSIONS, MAX_STATE_DAYS } from '../report/parse-request.ts';
import { MAX_WINDOW_DAYS } from '../report/utc-time.ts';
import { daysPath, downloadPath, FIELDS_PATH, OPENAPI_PATH, reportPath } from '../routes.ts';
import { components, headersNamed, jsonSchema, like, type Part, problemsOf, seeOther } from './components.ts';
import { fieldsAnswer } from './fields.ts';
import { csvOf, daysParameters, reportParameters, waitingParameters } from './report-parameters.ts';

/** What a deployment sets. The document in `docs/` names no commit and no token endpoint. */
type Deployment = Pick<Config, 'longestQueryMs'> & Partial<Config>;

/**
 * The service in OpenAPI 3.1: a template that the catalogue and the service's own rules fill in, so they can't differ.
 * @param url the service's URL, without a slash at its end. If it is not known: `/`, the root of the document's host
 */
export const openApiDocument = (url: string, scope: string, deployment: Deployment): Part => ({
  openapi: '3.1.1',
  info: {
    title: 'Performance reports',
    version: API_VERSIONS.at(-1),
    'x-commit': deployment.commit,
    license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    description: `\
Publisher and advertiser reports: one GET answers with a CSV. Choose the fields, a window of time, and what to filter \
by; follow the redirect.

Every error is a problem document (RFC 9457). HEAD answers as GET does, without the body: it makes the report too.

A report is one CSV file, whole: no pages, no limit of rows. Its rows are ordered by the dimensions in requested order, \
unknown values last. Integers have up to 64 bits and amounts are decimals with six places: both are exact, so do not \
read them as binary floats. The file has an \`ETag\` and accepts \`Range\`. The same request over the same data gives \
the same bytes; \`days\` says which days are final, and which have changed.

${limitsText(deployment)}

A version that will be removed is announced a year ahead, by the headers \`Deprecation\` (RFC 9745) and \`Sunset\` (RFC \
8594) of every answer to it.`,
  },
  servers: [{ url }],
  tags: [
    { name: 'Reports', description: 'Performance reports, and how to get them.' },
    { name: 'Description', description: 'What the service is.' },
  ],
  paths: {
    ...ofEachReport(reportPath, (report) => ({
      operationId: `get${pascalCase(report.title)}`,
      summary: report.title,
      description:
        'Answers with a redirect to the report as a CSV file. Clients that follow redirects get the file.',
      tags: ['Reports'],
      security: securityOf(scope, deployment),
      parameters: reportParameters(report),
      responses: { 200: csvOf(report), ...seeOther, ...problemsOf(401, 404, 503) },
    })),
    ...ofEachReport(daysPath, (report) => ({
      operationId: `getDaysOf${pascalCase(report.title)}`,
      summary: `Days of the ${report.title.toLowerCase()}`,
      description: `\
The days of the window that hold events, each with its state and its version: keep the versions of what you have \
pulled, and pull the days whose version is another. At most ${MAX_STATE_DAYS} days.`,
      tags: ['Reports'],
      security: securityOf(scope, deployment),
      parameters: daysParameters,
      responses: {
        200: {
          description: 'The days that hold events, in their order, as they are at this moment.',
          headers: headersNamed('Cache-Control'),
          content: { 'application/json': { schema: { ...jsonSchema(daysAnswer), example: exampleDays } } },
        },
        ...problemsOf(401, 404, 503),
      },
    })),
    // Clients take this URL from `Location` only.
    [downloadPath('{ticket}', '{hop}')]: get({
      operationId: 'waitForReport',
      summary: 'Waiting room of a report under way',
      description: `\
Where \`Location\` leads while a report is being made. It answers when the report is ready or, after a while, with the \
next URL of the waiting room. Take its URLs from \`Location\`; they need no access token.`,
      tags: ['Reports'],
      security: [],
      parameters: waitingParameters,
      responses: { 200: csvOf(), ...seeOther, ...problemsOf(404, 503) },
    }),
    [OPENAPI_PATH]: get({
      operationId: 'getOpenApiDocument',
      summary: 'This document',
      tags: ['Description'],
      security: [],
      responses: storedResponses('The service as it is deployed here, in OpenAPI 3.1.', 'private', {
        type: 'object',
        required: ['openapi', 'info', 'paths'],
        properties: { openapi: like('^3\\.1\\.'), info: { type: 'object' }, paths: { type: 'object' } },
      }),
    }),
    [FIELDS_PATH]: get({
      operationId: 'getFields',
      summary: 'Reports, fields and limits',
      description: 'The reports, fields and limits, for programs that let people choose.',
      tags: ['Description'],
      security: [],
      responses: storedResponses('The reports, each with its fields.', 'public', jsonSchema(fieldsAnswer)),
    }),
  },
  components: components(scope, deployment.access?.tokenEndpoint),
});

/** A token as it is, or requested by a client that can do that. */
const securityOf = (scope: string, { access }: Deployment): Part[] => [
  { accessToken: [scope] },
  ...(access?.tokenEndpoint ? [{ clientCredentials: [scope] }] : []),
];

const limitsText = ({ queriesPerPartner, requestsPerSecond, longestQueryMs }: Deployment): string =>
  [
    `A window has at most ${MAX_WINDOW_DAYS} days.`,
    queriesPerPartner &&
      `A client may have ${queriesPerPartner} queries under way; further requests wait for one to end.`,
    `A query that runs longer than ${Math.ceil(longestQueryMs / 1_000)} seconds is given up (503).`,
    requestsPerSecond !== undefined
      ? `The gateway accepts ${requestsPerSecond} requests a second for each report, of all clients together; others are answered 429: wait and ask again.`
      : 'Requests beyond the rate that the gateway allows are answered 429: wait and ask again.',
  ]
    .filter(Boolean)
    .join(' ');

const get = (operation: Part): Part => ({ get: operation });
const ofEachReport = (path: (report: Report) => string, operation: (report: Report) => Part): Part =>
  Object.fromEntries(reports.map((report) => [path(report), get(operation(report))]));

const pascalCase = (title: string): string =>
  title.replaceAll(/(?:^|\s+)(\w)/g, (_, first: string) => first.toUpperCase());

/** The answers of a route that describes the service in JSON, which caches of this kind may store for a while. */
const storedResponses = (description: string, caches: 'private' | 'public', schema: Part): Part => ({
  200: {
    description,
    headers: {
      'Cache-Control': { required: true, schema: like(`^${caches}, max-age=\\d+$`) },
      ...headersNamed('Vary'),
    },
    content: { 'application/json': { schema } },
  },
  ...problemsOf(),
});

const exampleDay = (day: string, next: string, state: string, version: string) => {
  const [startInclusive, endExclusive] = [`${day}T00:00:00Z`, `${next}T00:00:00Z`];
  return { day, startInclusive, endExclusive, state, version };
};
const exampleDays = {
  report: reports[0]?.name,
  startInclusive: '2026-01-31T00:00:00Z',
  endExclusive: '2026-02-02T00:00:00Z',
  days: [
    exampleDay('2026-01-31', '2026-02-01', 'final', '0b7f2a4be9a1c6d83c1f5a9d27e0b6c4'),
    exampleDay('2026-02-01', '2026-02-02', 'open', '5ad0c3e2f1884be7a6b9d01c3e4f7a28'),
  ],
};
