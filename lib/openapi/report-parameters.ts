import type { Report } from '../report/catalogue.ts';
import { API_VERSIONS, MAX_WINDOW_DAYS } from '../report/parse-request.ts';
import { patternOf, UTC_TIME_FORM } from '../report/utc-time.ts';
import { EXAMPLE_WINDOW, type ExampleRequest, exampleRequests } from './example-requests.ts';
import { fieldReferences } from './field-schemas.ts';
import { filterParameters } from './filter-parameters.ts';
import { type Part, reference } from './schema.ts';

/** The parameters that are the same for every report (contract 4.1), for `components`. */
export const commonParameters: Readonly<Record<string, Part>> = {
  startInclusive: timeParameter('startInclusive', 'Where the window starts: records of this instant count.'),
  endExclusive: timeParameter(
    'endExclusive',
    `Where the window ends: records before this instant count. Later than startInclusive, by at most ${MAX_WINDOW_DAYS} days.`,
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

/** Every query parameter of a report's operation. Each may stand once, but for the filters. */
export function reportParameters(report: Report): Part[] {
  const { field, dimension } = fieldReferences(report);
  const examples = (value: (request: ExampleRequest) => unknown): Part =>
    Object.fromEntries(
      Object.entries(exampleRequests(report))
        .filter(([, request]) => value(request) !== undefined)
        .map(([name, request]) => [name, { summary: request.summary, value: value(request) }]),
    );
  // Without `uniqueItems`, though no entry may stand twice: generators make a set of it, which has no order.
  const list = (items: Part) => ({ type: 'array', items, minItems: 1 });
  return [
    {
      name: 'requestedFields',
      in: 'query',
      required: true,
      description: 'The columns of the report, in this order, separated by commas.',
      style: 'form',
      explode: false,
      schema: list(field),
      examples: examples(({ requestedFields }) => requestedFields),
    },
    reference('parameters', 'startInclusive'),
    reference('parameters', 'endExclusive'),
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
    ...filterParameters(report),
  ];
}

function timeParameter(name: keyof typeof EXAMPLE_WINDOW, description: string): Part {
  return {
    name,
    in: 'query',
    required: true,
    description: `${description} UTC, \`${UTC_TIME_FORM}\`.`,
    // Without `format: date-time`: clients that know it write `.000Z` or `+00:00`, which the contract does not have.
    schema: { type: 'string', pattern: patternOf(UTC_TIME_FORM) },
    example: EXAMPLE_WINDOW[name],
  };
}
