import type { Config } from '../config.ts';
import { daysAnswer } from '../lake/days-answer.ts';
import { EMPTY_REASONS } from '../lake/empty-reason.ts';
import { InvalidRequest, PROBLEM_MEDIA_TYPE } from '../problems/problem.ts';
import { type Report, reports } from '../report/catalogue.ts';
import { API_VERSIONS, MAX_STATE_DAYS } from '../report/parse-request.ts';
import { MAX_WINDOW_DAYS, patternOf, UTC_TIME_FORM } from '../report/utc-time.ts';
import {
  CACHE_STATUS,
  DATA_VERSION_HEADER,
  headerAsDelivered,
  NOTE,
  REPORT_EMPTY_HEADER,
} from '../response-headers.ts';
import { daysPath, downloadPath, FIELDS_PATH, OPENAPI_PATH, reportPath } from '../routes.ts';
import { fieldsAnswer } from './fields.ts';
import { headersNamed, jsonSchema, type Part, parametersNamed, reference } from './parts.ts';
import { problemResponses, problemsOf } from './problem-responses.ts';
import {
  EXAMPLE_WINDOW,
  exampleCsv,
  exampleDays,
  examplesOf,
  reportParameters,
} from './report-parameters.ts';

/** What a deployment sets. The document in `docs/` names no commit and no token endpoint. */
type Deployment = Pick<Config, 'longestQueryMs'> &
  Partial<Pick<Config, 'access' | 'commit' | 'queriesPerPartner' | 'requestsPerSecond'>>;

/**
 * Describes the service in OpenAPI 3.1: one template, which reads like the document. The catalogue and the rules that
 * the service uses itself fill it in, so the two can't differ.
 *
 * @param url the service's URL, without a slash at its end. If it is not known: `/`, the root of the document's host
 * @param scope the scope that callers request their tokens with
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
      responses: {
        200: csvResponse(examplesOf(report, (request) => exampleCsv(report, request))),
        303: reference('responses', 'SeeOther'),
        ...problemsOf(401, 404, 503),
      },
    })),
    ...ofEachReport(daysPath, (report) => ({
      operationId: `getDaysOf${pascalCase(report.title)}`,
      summary: `Days of the ${report.title.toLowerCase()}`,
      description: `\
The days of the window that hold events, each with its state and its version: keep the versions of what you have \
pulled, and pull the days whose version is another. At most ${MAX_STATE_DAYS} days.`,
      tags: ['Reports'],
      security: securityOf(scope, deployment),
      parameters: parametersNamed('startInclusive', 'daysEndExclusive', 'api-version'),
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
      parameters: [
        parameter('path', 'ticket', 'Identifies the report. Anyone who has it can get the report.', TEXT),
        parameter('path', 'hop', 'Counts the redirects, so that no two URLs are the same.', {
          type: 'integer',
          minimum: 1,
        }),
      ],
      responses: { 200: csvResponse({}), 303: reference('responses', 'SeeOther'), ...problemsOf(404, 503) },
    }),
    [OPENAPI_PATH]: get({
      operationId: 'getOpenApiDocument',
      summary: 'This document',
      tags: ['Description'],
      security: [],
      responses: {
        200: storedResponse('The service as it is deployed here, in OpenAPI 3.1.', 'private', {
          type: 'object',
          required: ['openapi', 'info', 'paths'],
          properties: { openapi: { type: 'string', pattern: '^3\\.1\\.' }, info: OBJECT, paths: OBJECT },
        }),
        ...problemsOf(),
      },
    }),
    [FIELDS_PATH]: get({
      operationId: 'getFields',
      summary: 'Reports, fields and limits',
      description: 'The reports, fields and limits, for programs that let people choose.',
      tags: ['Description'],
      security: [],
      responses: {
        200: storedResponse('The reports, each with its fields.', 'public', jsonSchema(fieldsAnswer)),
        ...problemsOf(),
      },
    }),
  },
  components: {
    securitySchemes: {
      accessToken: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: `\
An OAuth 2.0 access token that was requested with the scope \`${scope}\`. The operator says where and how to request one.`,
      },
      clientCredentials: deployment.access?.tokenEndpoint && {
        type: 'oauth2',
        description: 'The same token, requested with a client id and secret.',
        flows: {
          clientCredentials: {
            tokenUrl: deployment.access.tokenEndpoint,
            scopes: { [scope]: 'Read your reports.' },
          },
        },
      },
    },
    parameters: {
      startInclusive: timeParameter(
        'startInclusive',
        'Where the window starts: records of this instant count.',
      ),
      endExclusive: timeParameter(
        'endExclusive',
        `Where the window ends: records before this instant count. Later than startInclusive, by at most ${MAX_WINDOW_DAYS} days.`,
      ),
      daysEndExclusive: timeParameter(
        'endExclusive',
        `Where the window ends. Later than startInclusive, by at most ${MAX_STATE_DAYS} days.`,
      ),
      'api-version': {
        ...parameter('query', 'api-version', 'The version of this contract.', oneOf(API_VERSIONS)),
        example: API_VERSIONS.at(-1),
      },
    },
    headers: {
      'Cache-Control': header('No cache may store this answer.', oneOf(['no-store'])),
      'Cache-Status': header(
        'Whether the report comes from a copy, from a query of its own, or from one under way (RFC 9211).',
        oneOf(Object.values(CACHE_STATUS)),
      ),
      'Content-Encoding': {
        description:
          'Present if the request that was answered with this file’s URL accepts gzip, and there is a gzipped file.',
        schema: oneOf(['gzip']),
      },
      Vary: header(
        'If `Accept-Encoding` allows gzip, the document, or the file that the location leads to, is gzipped (if there is a gzipped file).',
        { type: 'string', pattern: '^Accept-Encoding(, Origin)?$' },
      ),
      DownloadOrWaitingRoom: header(
        'Where to GET next: a download URL, good for some minutes and for whoever has it, or the waiting room.',
        { type: 'string', format: 'uri-reference' },
      ),
      [DATA_VERSION_HEADER]: {
        description:
          'The version of the data that the report counts; absent if they changed during the query.',
        schema: { type: 'string', minLength: 1 },
      },
      [REPORT_EMPTY_HEADER]: {
        description: `\
Present if the report has no rows. \`outside-window\`: a filter on the time lets nothing of the window pass. \
\`no-records\`: the service has no records of these days. \`open-days\`: it has, and more may come. \`no-match\`: no \
record that this client may see passes the filters; values must match exactly.`,
        schema: oneOf(EMPTY_REASONS),
      },
      'Retry-After': { required: true, ...SECONDS_TO_WAIT },
      RetryAfterFirewall: SECONDS_TO_WAIT,
      [headerAsDelivered('WWW-Authenticate')]: {
        ...header(
          `\
The challenge of RFC 6750, as the gateway renames it: what is wrong with the token. If the scope is missing, it names \
the scope to request; \`scope\` in the body says it too.`,
          { type: 'string', pattern: '^Bearer( |$)' },
        ),
        example: `Bearer error="insufficient_scope", scope="${scope}"`,
      },
    },
    schemas: {
      Problem: {
        type: 'object',
        description: `What went wrong, in \`${PROBLEM_MEDIA_TYPE}\`. Decide by \`type\` or \`status\`, never by \`detail\`.`,
        required: ['type', 'title', 'status', 'detail'],
        properties: {
          // No enumeration: a client that was generated today would refuse a kind of problem that comes tomorrow.
          type: text(
            'What kind of problem it is; each kind has an entry in `docs/problems.md`. New ones may come.',
            'uri',
          ),
          title: text('The kind of problem, for people.'),
          status: { type: 'integer', minimum: 400, maximum: 599, description: "The response's own status." },
          detail: text(
            'What is wrong and what to do, for people. If there are several faults, the first one.',
          ),
          instance: text(
            'Identifies the request in the operator’s log. Only the firewall leaves it out.',
            'uri',
          ),
          help: text(
            'Where the problem and its cure are described. From the gateway or the firewall, the path below the service’s URL.',
            'uri-reference',
          ),
          scope: text('The scope to request a token with. Present if a valid token is not authorized.'),
          reports: {
            type: 'array',
            items: TEXT,
            description:
              'The reports that the client may request. Present if there are any, but not this one.',
          },
          errors: {
            type: 'array',
            description: 'The faults of the request, where its parameters are at fault.',
            items: reference('schemas', 'Fault'),
            minItems: 1,
            maxItems: InvalidRequest.mostListed,
          },
          errorsLeftOut: {
            type: 'integer',
            minimum: 1,
            description: 'How many more faults there are, which are not listed.',
          },
        },
      },
      Fault: {
        type: 'object',
        required: ['parameter', 'detail'],
        properties: {
          parameter: text('A query parameter as the caller wrote it, or `Accept`.'),
          detail: text('What is wrong with it.'),
        },
      },
    },
    responses: {
      SeeOther: {
        description:
          'The report is ready, or is being made. GET the Location, without an Authorization header.',
        headers: {
          Location: reference('headers', 'DownloadOrWaitingRoom'),
          ...headersNamed('Cache-Control', 'Cache-Status', DATA_VERSION_HEADER, REPORT_EMPTY_HEADER, 'Vary'),
        },
        content: {
          'text/plain': {
            schema: TEXT,
            examples: Object.fromEntries(Object.entries(NOTE).map(([name, value]) => [name, { value }])),
          },
        },
      },
      ...problemResponses(scope),
    },
  },
});

/** A token as it is, or requested by a client that can do that. */
const securityOf = (scope: string, { access }: Deployment): Part[] =>
  access?.tokenEndpoint
    ? [{ accessToken: [scope] }, { clientCredentials: [scope] }]
    : [{ accessToken: [scope] }];

const limitsText = ({ queriesPerPartner, requestsPerSecond, longestQueryMs }: Deployment): string =>
  [
    `A window has at most ${MAX_WINDOW_DAYS} days.`,
    ...(queriesPerPartner === undefined
      ? []
      : [`A client may have ${queriesPerPartner} queries under way; further requests wait for one to end.`]),
    `A query that runs longer than ${Math.ceil(longestQueryMs / 1_000)} seconds is given up (503).`,
    requestsPerSecond === undefined
      ? 'Requests beyond the rate that the gateway allows are answered 429: wait and ask again.'
      : `The gateway accepts ${requestsPerSecond} requests a second for each report, of all clients together; others are answered 429: wait and ask again.`,
  ].join(' ');

const get = (operation: Part): Part => ({ get: operation });

const ofEachReport = (path: (report: Report) => string, operation: (report: Report) => Part): Part =>
  Object.fromEntries(reports.map((report) => [path(report), get(operation(report))]));

/** A report's title as a name in code: `PublisherPerformanceReport`. */
const pascalCase = (title: string): string =>
  title.replaceAll(/(?:^|\s+)(\w)/g, (_, first: string) => first.toUpperCase());

const TEXT: Part = { type: 'string' };
const OBJECT: Part = { type: 'object' };

const text = (description: string, format?: string): Part => ({ type: 'string', format, description });

const oneOf = (values: readonly string[]): Part => ({ type: 'string', enum: values });

const parameter = (place: 'path' | 'query', name: string, description: string, schema: Part): Part => ({
  name,
  in: place,
  required: true,
  description,
  schema,
});

const timeParameter = (name: keyof typeof EXAMPLE_WINDOW, meaning: string): Part => ({
  ...parameter('query', name, `${meaning} UTC, \`${UTC_TIME_FORM}\`.`, {
    type: 'string',
    pattern: patternOf(UTC_TIME_FORM),
  }),
  example: EXAMPLE_WINDOW[name],
});

const header = (description: string, schema: Part): Part => ({ required: true, description, schema });

const SECONDS_TO_WAIT: Part = {
  description: 'Seconds to wait before the next try.',
  schema: { type: 'integer', minimum: 1 },
};

/** The answer of the download URL, which clients that follow redirects get. */
const csvResponse = (examples: Part): Part => ({
  description: `\
The report, as a client that follows redirects gets it from the download URL. Numbers have no quotes, texts and times \
have double quotes, and an unknown value is an empty field.`,
  headers: headersNamed('Content-Encoding'),
  content: { 'text/csv': { schema: TEXT, examples } },
});

/** An answer in JSON that describes the service, and that caches of this kind may store for a while. */
const storedResponse = (description: string, caches: 'private' | 'public', schema: Part): Part => ({
  description,
  headers: {
    'Cache-Control': { required: true, schema: { type: 'string', pattern: `^${caches}, max-age=\\d+$` } },
    ...headersNamed('Vary'),
  },
  content: { 'application/json': { schema } },
});
