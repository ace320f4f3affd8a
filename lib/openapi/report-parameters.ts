import type { Report } from '../report/catalogue.ts';
import { MAX_STATE_DAYS } from '../report/parse-days-request.ts';
import { API_VERSIONS, MAX_WINDOW_DAYS } from '../report/parse-request.ts';
import { patternOf, UTC_TIME_FORM } from '../report/utc-time.ts';
import { EXAMPLE_WINDOW, type ExampleRequest, exampleRequests } from './example-requests.ts';
import { fieldReferences } from './field-schemas.ts';
import { type Part, reference } from './schema.ts';

/** The parameters that are the same for every report (contract 4.1), for `components`. */
export const commonParameters: Readonly<Record<string, Part>> = {
  startInclusive: timeParameter('startInclusive', 'Where the window starts: records of this instant count.'),
  endExclusive: timeParameter(
    'endExclusive',
    `Where the window ends: records before this instant count. Later than startInclusive, by at most ${MAX_WINDOW_DAYS} days.`,
  ),
  daysEndExclusive: timeParameter(
    'endExclusive',
    `Where the window ends. Later than startInclusive, by at most ${MAX_STATE_DAYS} days.`,
  ),
  'api-version': {
    name: 'api-version',
    in: 'query',
    required: true,
    description: 'The version of this contract.',
    schema: { type: 'string', enum: API_VERSIONS },
    example: API_VERSIONS[0],
  },
};

/** Every query parameter of a report's operation. Each may stand once, but for the properties of `filter`. */
export function reportParameters(report: Report): Part[] {
  const { dimension, metric, filter } = fieldReferences(report);
  const examples = (value: (request: ExampleRequest) => unknown): Part =>
    Object.fromEntries(
      Object.entries(exampleRequests(report))
        .filter(([, request]) => value(request) !== undefined)
        .map(([name, request]) => [name, { summary: request.summary, value: value(request) }]),
    );
  const list = (items: Part) => ({ type: 'array', items, minItems: 1, uniqueItems: true });
  return [
    {
      name: 'requestedFields',
      in: 'query',
      required: true,
      description: 'The columns of the report, in this order, separated by commas.',
      style: 'form',
      explode: false,
      schema: list({ anyOf: [dimension, metric] }),
      examples: examples(({ requestedFields }) => requestedFields),
    },
    reference('parameters', 'startInclusive'),
    reference('parameters', 'endExclusive'),
    {
      name: 'filter',
      in: 'query',
      description:
        'Counts only the records with this value: `filter[FieldName]=value`. Filters on several fields must all ' +
        'hold. A field may be repeated, `filter[FieldName]=1&filter[FieldName]=2`: any of its values will do.',
      style: 'deepObject',
      explode: true,
      schema: filter,
      examples: examples((request) => request.filter),
    },
    {
      name: 'groupBy',
      in: 'query',
      description:
        'The dimensions to group by, separated by commas: those among requestedFields, all of them. ' +
        'The report is grouped so without it, too.',
      style: 'form',
      explode: false,
      schema: list(dimension),
      examples: examples(({ groupBy }) => groupBy),
    },
    reference('parameters', 'api-version'),
  ];
}

function timeParameter(name: keyof typeof EXAMPLE_WINDOW, description: string): Part {
  return {
    name,
    in: 'query',
    required: true,
    description: `${description} UTC, \`${UTC_TIME_FORM}\`.`,
    schema: { type: 'string', format: 'date-time', pattern: patternOf(UTC_TIME_FORM) },
    example: EXAMPLE_WINDOW[name],
  };
}
