import { dimensionsOf, type Field, type Report } from '../report/catalogue.ts';
import { MAX_STATE_DAYS } from '../report/parse-days-request.ts';
import { API_VERSIONS, MAX_WINDOW_DAYS } from '../report/parse-request.ts';
import { patternOf, UTC_TIME_FORM } from '../report/utc-time.ts';
import { EXAMPLE_WINDOW, type ExampleRequest, exampleRequests } from './example-requests.ts';
import { fieldTable } from './field-table.ts';
import { filterParameters } from './filter-parameters.ts';
import { type Part, reference } from './schema.ts';

/** The parameters that are the same for every report (docs/contract.md#the-request), for `components`. */
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
    example: API_VERSIONS.at(-1),
  },
};

/** Every query parameter of a report's operation. Only the filters may be repeated. */
export function reportParameters(report: Report): Part[] {
  const examples = (value: (request: ExampleRequest) => unknown): Part =>
    Object.fromEntries(
      Object.entries(exampleRequests(report))
        .filter(([, request]) => value(request) !== undefined)
        .map(([name, request]) => [name, { summary: request.summary, value: value(request) }]),
    );
  return [
    {
      name: 'requestedFields',
      in: 'query',
      required: true,
      description:
        'The columns of the report, in this order, separated by commas. Rows are grouped by the dimensions among ' +
        `them; metrics are added up for each row.\n\n${fieldTable(report)}`,
      schema: commaSeparated(report.fields),
      examples: examples(({ requestedFields }) => requestedFields.join(',')),
    },
    reference('parameters', 'startInclusive'),
    reference('parameters', 'endExclusive'),
    {
      name: 'groupBy',
      in: 'query',
      description:
        'The dimensions to group by, separated by commas: all dimensions in requestedFields. ' +
        'That is also the default.',
      schema: commaSeparated(dimensionsOf(report)),
      examples: examples(({ groupBy }) => groupBy?.join(',')),
    },
    reference('parameters', 'api-version'),
    ...filterParameters(report),
  ];
}

/**
 * A list of names, described as one text (docs/contract.md#the-request). If it were an array, some clients would repeat
 * the parameter instead of writing commas, and some generators would make it a set, which has no order.
 */
const commaSeparated = (fields: readonly Field[]): Part => {
  const name = `(${fields.map(({ name }) => name).join('|')})`;
  return { type: 'string', pattern: `^${name}(,${name})*$` };
};

function timeParameter(name: keyof typeof EXAMPLE_WINDOW, description: string): Part {
  return {
    name,
    in: 'query',
    required: true,
    description: `${description} UTC, \`${UTC_TIME_FORM}\`.`,
    // There is no `format: date-time`: clients that know it write `.000Z` or `+00:00`, which the contract does not
    // allow.
    schema: { type: 'string', pattern: patternOf(UTC_TIME_FORM) },
    example: EXAMPLE_WINDOW[name],
  };
}
