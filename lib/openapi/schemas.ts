import { DAY_STATES, MARKER_LOOKBACK_DAYS } from '../lake/day-states.ts';
import { InvalidRequest } from '../problems/problem.ts';
import { PROBLEM_MEDIA_TYPE } from '../problems/problem-response.ts';
import { reports } from '../report/catalogue.ts';
import { patternOf, UTC_TIME_FORM } from '../report/utc-time.ts';

/** A part of an OpenAPI document: what JSON can hold. */
export type Part = Readonly<Record<string, unknown>>;

/** A reference to one of the document's components. */
export const reference = (kind: 'schemas' | 'responses' | 'headers' | 'parameters', name: string): Part => ({
  $ref: `#/components/${kind}/${name}`,
});

/** A required parameter of a request. */
export function parameter(place: 'path' | 'query', name: string, description: string, schema: Part): Part {
  return { name, in: place, required: true, description, schema };
}

export const parameterNamed = (name: string): Part => reference('parameters', name);

export const headersNamed = (...names: readonly string[]): Part =>
  Object.fromEntries(names.map((name) => [name, reference('headers', name)]));

/** An object with these properties. As in TypeScript, a property whose name ends with `?` may be missing. */
function object(properties: Readonly<Record<string, Part>>, description?: string): Part {
  const required = Object.keys(properties).filter((name) => !name.endsWith('?'));
  return {
    type: 'object',
    ...(description && { description }),
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name.replace('?', ''), schema]),
    ),
  };
}

/** Makes schemas of a type, with a description if there is one, and with more keywords. */
const schemaOf =
  (type: string) =>
  (description?: string, more: Part = {}): Part => ({ type, ...more, ...(description && { description }) });
export const text = schemaOf('string');
const integer = schemaOf('integer');
const boolean = schemaOf('boolean');
const arrayOf = (items: Part): Part => ({ type: 'array', items });
export const oneOf = (values: readonly string[], description?: string) => text(description, { enum: values });

/** No `format: date-time`: clients that know it write `.000Z` or `+00:00`, which the contract does not allow. */
export const time = (form: string, description?: string): Part =>
  text(description, { pattern: patternOf(form) });

/** What `GET /reporting/{report}/days` answers. */
export const daysAnswer: Part = object({
  report: oneOf(reports.map(({ name }) => name)),
  startInclusive: time(UTC_TIME_FORM),
  endExclusive: time(UTC_TIME_FORM),
  days: arrayOf(
    object({
      day: time('YYYY-MM-DD', 'UTC.'),
      startInclusive: time(
        UTC_TIME_FORM,
        'The midnight that begins the day, even if the window begins later.',
      ),
      endExclusive: time(
        UTC_TIME_FORM,
        'The midnight that begins the next day, even if the window ends earlier. A report of exactly this day has ' +
          'the window from startInclusive to endExclusive.',
      ),
      state: oneOf(
        DAY_STATES,
        '`final`: complete, until it is opened again. `open`: more may come. `unknown`: the data do not say ' +
          `(no day of the window and of the ${MARKER_LOOKBACK_DAYS} days before it is marked as complete).`,
      ),
      version: text(
        'Changes when the data of the day change, and only then. Compare it for equality; nothing else is promised ' +
          'of it. A report of exactly this day has it in `Data-Version`.',
        { minLength: 1 },
      ),
      'expectedAt?': time(
        UTC_TIME_FORM,
        'By when the operator promises the day to be final. Present if there is a promise and the day is not final; in the past, the day is late.',
      ),
      'finalSince?': time(
        UTC_TIME_FORM,
        'Since when the day has been final. Present if there is a promise and the day is final.',
      ),
    }),
  ),
});

/** What `GET /reporting/fields` answers. */
export const fieldsAnswer: Part = object({
  apiVersions: arrayOf(text()),
  timeZone: text('The time zone of all times.'),
  timeForm: text(),
  'currency?': text('The currency of all amounts (ISO 4217); absent if the operator has not set it.', {
    pattern: '^[A-Z]{3}$',
  }),
  'access?': object(
    {
      'tokenEndpoint?': text('Where access tokens come from, for a client id and secret.', { format: 'uri' }),
      'contact?': text('Whom to ask: an e-mail address, or an https URL.'),
    },
    'How to get access; absent where the operator has not said it.',
  ),
  'finalAfterHours?': integer(
    'How many hours after its end (UTC) the operator promises a day to be final; absent without a promise.',
    { minimum: 1 },
  ),
  limits: object({
    windowDays: integer('The longest window.'),
    longestReportSeconds: integer(
      'A report whose query runs longer is given up (503). The query may also wait in a queue for as long before it runs.',
    ),
    'queriesAtATime?': integer('How many queries of one client may be under way; absent without a limit.'),
    'requestsPerSecond?': {
      type: 'number',
      description:
        'How many requests a second are accepted for each report, of all clients together; others get 429.',
    },
    filterTextCharacters: integer('The longest text of a filter.'),
    filterTimeForms: {
      type: 'object',
      description: 'The form of a time in a filter, for each grain.',
      additionalProperties: text(),
    },
  }),
  reports: arrayOf(
    object({
      name: text(),
      title: text(),
      path: text(),
      fields: arrayOf(
        object({
          name: text(),
          role: oneOf(['dimension', 'metric']),
          type: oneOf(['datetime', 'integer', 'string', 'float']),
          meaning: text(),
          values: object(
            {
              example: text('One value, without the quotes of the CSV.'),
              unit: text('What it counts or names.'),
              exactness: text('How exact it is.'),
            },
            'What the values look like in the CSV. Read integers and amounts exactly, not as binary floats.',
          ),
          groupable: boolean('Whether it can stand in `groupBy`.'),
          filterable: boolean('Whether it can be filtered by.'),
          'grain?': oneOf(['hour', 'day'], 'The unit that times are truncated to.'),
          'isAmount?': boolean('Whether a metric is an amount of money.'),
          'countedBy?': object(
            { whereGroupedBy: text(), otherwise: text() },
            'The dimensions that a metric is counted by, if that depends on the grouping.',
          ),
        }),
      ),
    }),
  ),
});

/** What `GET /openapi.json` answers. */
export const documentAnswer: Part = object({
  openapi: { type: 'string', pattern: '^3\\.1\\.' },
  info: { type: 'object' },
  paths: { type: 'object' },
});

/** The schemas of problem documents, for `components` (RFC 9457). */
export const problemSchemas: Part = {
  Problem: object(
    {
      // No enumeration: a client that was generated today would refuse a kind of problem that comes tomorrow.
      type: text(
        'What kind of problem it is; each kind has an entry in `docs/problems.md`. New ones may come.',
        { format: 'uri' },
      ),
      title: text('The kind of problem, for people.'),
      status: integer("The response's own status.", { minimum: 400, maximum: 599 }),
      detail: text('What is wrong and what to do, for people. If there are several faults, the first one.'),
      'instance?': text('Identifies the request in the operator’s log. Only the firewall leaves it out.', {
        format: 'uri',
      }),
      'help?': text(
        'Where the problem and its cure are described. From the gateway or the firewall, the path below the service’s URL.',
        { format: 'uri-reference' },
      ),
      'scope?': text('The scope to request a token with. Present if a valid token is not authorized.'),
      'reports?': {
        ...arrayOf(text()),
        description: 'The reports that the client may request. Present if there are any, but not this one.',
      },
      'errors?': {
        type: 'array',
        description: 'The faults of the request, where its parameters are at fault.',
        items: reference('schemas', 'Fault'),
        minItems: 1,
        maxItems: InvalidRequest.mostListed,
      },
      'errorsLeftOut?': integer('How many more faults there are, which are not listed.', { minimum: 1 }),
    },
    `What went wrong, in \`${PROBLEM_MEDIA_TYPE}\`. Decide by \`type\` or \`status\`, never by \`detail\`.`,
  ),
  Fault: object({
    parameter: text('A query parameter as the caller wrote it, or `Accept`.'),
    detail: text('What is wrong with it.'),
  }),
};
