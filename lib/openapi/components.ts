import { toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import { EMPTY_REASONS } from '../lake/empty-reason.ts';
import { gatewayProblems, requestTooLarge } from '../problems/gateway-problems.ts';
import { InvalidRequest, knownProblems, PROBLEM_MEDIA_TYPE } from '../problems/problem.ts';
import { API_VERSIONS, MAX_STATE_DAYS } from '../report/parse-request.ts';
import { MAX_WINDOW_DAYS, patternOf, UTC_TIME_FORM } from '../report/utc-time.ts';
import { CACHE_STATUS, HEADER, headerAsDelivered, NOTE } from '../response-headers.ts';

/** A part of an OpenAPI document: what JSON can hold, without the members that are undefined. */
export type Part = Readonly<Record<string, unknown>>;

/** The schema of an answer. People read it, so what an object is comes before its members. */
export const jsonSchema = (answer: GenericSchema): Part =>
  JSON.parse(JSON.stringify(toJsonSchema(answer)), (_, value) => {
    if (typeof value?.type !== 'string') return value;
    const { $schema, propertyNames, type, required = [], properties, additionalProperties, ...about } = value;
    return { type, ...about, ...(required.length > 0 && { required }), properties, additionalProperties };
  });

/** Makes a tag for a description, as in required(TEXT)`What it is.` A long description can stand below its name. */
export const describedBy =
  <T>(make: (description: string) => T) =>
  (strings: TemplateStringsArray, ...values: readonly unknown[]): T =>
    make(String.raw({ raw: strings }, ...values));

export const TEXT: Part = { type: 'string' };
export const COUNT: Part = { type: 'integer', minimum: 1 };
export const like = (pattern: string): Part => ({ type: 'string', pattern });
const oneOf = (values: readonly string[]): Part => ({ type: 'string', enum: values });
const described = (schema: Part) => describedBy((description): Part => ({ ...schema, description }));
const text = described(TEXT);
const uri = described({ type: 'string', format: 'uri' });
const URI_REFERENCE: Part = { type: 'string', format: 'uri-reference' };

const reference = (kind: string, name: string): Part => ({ $ref: `#/components/${kind}/${name}` });
export const seeOther: Part = { 303: reference('responses', 'SeeOther') };
export const parametersNamed = (...names: readonly string[]): Part[] =>
  names.map((name) => reference('parameters', name));
export const headersNamed = (...names: readonly string[]): Part =>
  Object.fromEntries(names.map((name) => [name, reference('headers', name)]));
const examplesNamed = (values: readonly (readonly [name: string, value: unknown])[]): Part =>
  Object.fromEntries(values.map(([name, value]) => [name, { value }]));

const optional = (schema: Part) => describedBy((description): Part => ({ description, schema }));
const required = (schema: Part) => describedBy((description) => ({ required: true, description, schema }));
export const parameter = (place: 'path' | 'query', name: string, schema: Part, example?: string) =>
  describedBy((description): Part => ({ name, in: place, required: true, description, schema, example }));

const start = parameter('query', 'startInclusive', like(patternOf(UTC_TIME_FORM)), '2026-01-01T00:00:00Z');
const end = parameter('query', 'endExclusive', like(patternOf(UTC_TIME_FORM)), '2026-02-01T00:00:00Z');

const FAILED = 'if it keeps failing, report the instance.';
const PROBLEMS_OF_STATUS: Readonly<Record<number, string>> = {
  400: 'The request is at fault, or asks for too much. The same request will fail again.',
  401: 'No access token, or one that is not accepted. The document says which.',
  403: 'The firewall refused the request.',
  404: 'Not found. Every unknown path, and every method except GET and HEAD, gets this answer.',
  429: 'Too many requests. Wait, then try again.',
  500: `The service failed. Try again, except after too-many-companies; ${FAILED}`,
  502: `The service failed. Try again; ${FAILED}`,
  503: 'Not now. Try again after Retry-After seconds.',
  504: `The request took too long. Try again; ${FAILED}`,
};

/** The problems of these statuses, and what the gateway may answer by itself. */
export function problemsOf(...statuses: readonly number[]): Part {
  const { notFound: _, ...gateways } = gatewayProblems;
  const ofGateway = [...Object.values(gateways), requestTooLarge].map(({ status }) => status);
  return Object.fromEntries(
    [...ofGateway, ...statuses].map((status) => [status, reference('responses', `Problem${status}`)]),
  );
}

const problemResponse = (status: number, problems: ReturnType<typeof knownProblems>): Part => ({
  description: PROBLEMS_OF_STATUS[status],
  // The firewall's 429 has no `Cache-Control`.
  headers:
    status === 429
      ? { 'Retry-After': reference('headers', 'RetryAfterFirewall') }
      : headersNamed(
          'Cache-Control',
          ...problems.flatMap(({ headers }) => Object.keys(headers).map(headerAsDelivered)),
        ),
  content: {
    // Problems are `application/problem+json`. The firewall can't send that, so it sends `application/json`. This range
    // covers both. If either were named here, the clients of several generators would ask for JSON instead of CSV.
    'application/*': {
      schema: reference('schemas', 'Problem'),
      examples: examplesNamed(problems.map(({ name, document }) => [name, document])),
    },
  },
});

export const components = (scope: string, tokenUrl: string | undefined): Part => ({
  securitySchemes: {
    accessToken: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: `\
An OAuth 2.0 access token that was requested with the scope \`${scope}\`. The operator says where and how to request one.`,
    },
    clientCredentials: tokenUrl && {
      type: 'oauth2',
      description: 'The same token, requested with a client id and secret.',
      flows: { clientCredentials: { tokenUrl, scopes: { [scope]: 'Read your reports.' } } },
    },
  },
  parameters: {
    startInclusive: start`Where the window starts: records of this instant count. UTC, \`${UTC_TIME_FORM}\`.`,
    endExclusive: end`\
Where the window ends: records before this instant count. Later than startInclusive, by at most ${MAX_WINDOW_DAYS} \
days. UTC, \`${UTC_TIME_FORM}\`.`,
    daysEndExclusive: end`\
Where the window ends. Later than startInclusive, by at most ${MAX_STATE_DAYS} days. UTC, \`${UTC_TIME_FORM}\`.`,
    'api-version': parameter('query', 'api-version', oneOf(API_VERSIONS), API_VERSIONS.at(-1))`\
The version of this contract.`,
  },
  headers: {
    'Cache-Control': required(oneOf(['no-store']))`No cache may store this answer.`,
    'Cache-Status': required(oneOf(Object.values(CACHE_STATUS)))`\
Whether the report comes from a copy, from a query of its own, or from one under way (RFC 9211).`,
    'Content-Encoding': optional(oneOf(['gzip']))`\
Present if the request that was answered with this file’s URL accepts gzip, and there is a gzipped file.`,
    Vary: required(like('^Accept-Encoding(, Origin)?$'))`\
If \`Accept-Encoding\` allows gzip, the document, or the file that the location leads to, is gzipped (if there is a \
gzipped file).`,
    DownloadOrWaitingRoom: required(URI_REFERENCE)`\
Where to GET next: a download URL, good for some minutes and for whoever has it, or the waiting room.`,
    [HEADER.dataVersion]: optional({ type: 'string', minLength: 1 })`\
The version of the data that the report counts; absent if they changed during the query.`,
    [HEADER.reportEmpty]: optional(oneOf(EMPTY_REASONS))`\
Present if the report has no rows. \`outside-window\`: a filter on the time lets nothing of the window pass. \
\`no-records\`: the service has no records of these days. \`open-days\`: it has, and more may come. \`no-match\`: no \
record that this client may see passes the filters; values must match exactly.`,
    'Retry-After': required(COUNT)`Seconds to wait before the next try.`,
    RetryAfterFirewall: optional(COUNT)`Seconds to wait before the next try.`,
    [headerAsDelivered('WWW-Authenticate')]: {
      ...required(like('^Bearer( |$)'))`\
The challenge of RFC 6750, as the gateway renames it: what is wrong with the token. If the scope is missing, it names \
the scope to request; \`scope\` in the body says it too.`,
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
        type: uri`\
What kind of problem it is; each kind has an entry in \`docs/problems.md\`. New ones may come.`,
        title: text`The kind of problem, for people.`,
        status: { type: 'integer', minimum: 400, maximum: 599, description: "The response's own status." },
        detail: text`What is wrong and what to do, for people. If there are several faults, the first one.`,
        instance: uri`Identifies the request in the operator’s log. Only the firewall leaves it out.`,
        help: described(URI_REFERENCE)`\
Where the problem and its cure are described. From the gateway or the firewall, the path below the service’s URL.`,
        scope: text`The scope to request a token with. Present if a valid token is not authorized.`,
        reports: described({ type: 'array', items: TEXT })`\
The reports that the client may request. Present if there are any, but not this one.`,
        errors: {
          type: 'array',
          description: 'The faults of the request, where its parameters are at fault.',
          items: reference('schemas', 'Fault'),
          minItems: 1,
          maxItems: InvalidRequest.mostListed,
        },
        errorsLeftOut: described(COUNT)`How many more faults there are, which are not listed.`,
      },
    },
    Fault: {
      type: 'object',
      required: ['parameter', 'detail'],
      properties: {
        parameter: text`A query parameter as the caller wrote it, shortened if it is long, or \`Accept\`.`,
        detail: text`What is wrong with it.`,
      },
    },
  },
  responses: {
    SeeOther: {
      description:
        'The report is ready, or is being made. GET the Location, without an Authorization header.',
      headers: {
        Location: reference('headers', 'DownloadOrWaitingRoom'),
        ...headersNamed('Cache-Control', 'Cache-Status', HEADER.dataVersion, HEADER.reportEmpty, 'Vary'),
      },
      content: { 'text/plain': { schema: TEXT, examples: examplesNamed(Object.entries(NOTE)) } },
    },
    ...Object.fromEntries(
      [...Map.groupBy(knownProblems(scope), ({ status }) => status)].map(([status, problems]) => [
        `Problem${status}`,
        problemResponse(status, problems),
      ]),
    ),
    // This response has no `content`: a second kind of body would remove the problem document's members from the types
    // of generated clients.
    [`Problem${requestTooLarge.status}`]: {
      description: `\
The request line and the headers are larger than 10 KB together. API Gateway answers by itself, with \
\`${JSON.stringify(requestTooLarge.body)}\` in \`${requestTooLarge.mediaType}\` and no problem document: decide by the status.`,
    },
  },
});
