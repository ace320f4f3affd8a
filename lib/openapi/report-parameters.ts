import { type Dimension, dimensionsOf, type Field, type Report } from '../report/catalogue.ts';
import { filterParameter, MAX_TEXT_CHARACTERS, TIME_FILTER_FORM } from '../report/filter.ts';
import { API_VERSIONS, MAX_STATE_DAYS, MAX_WINDOW_DAYS } from '../report/parse-request.ts';
import { UTC_TIME_FORM } from '../report/utc-time.ts';
import { EXAMPLE_WINDOW, exampleRequests, examplesOf, exampleValue } from './examples.ts';
import { oneOf, type Part, parameter, parameterNamed, time } from './schemas.ts';

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
    ...parameter('query', 'api-version', 'The version of this contract.', oneOf(API_VERSIONS)),
    example: API_VERSIONS.at(-1),
  },
};

function timeParameter(name: keyof typeof EXAMPLE_WINDOW, meaning: string): Part {
  const description = `${meaning} UTC, \`${UTC_TIME_FORM}\`.`;
  return { ...parameter('query', name, description, time(UTC_TIME_FORM)), example: EXAMPLE_WINDOW[name] };
}

/** Every query parameter of a report's operation. Only the filters may be repeated. */
export const reportParameters = (report: Report): Part[] => [
  {
    name: 'requestedFields',
    in: 'query',
    required: true,
    description:
      'The columns of the report, in this order, separated by commas. Rows are grouped by the dimensions among ' +
      `them; metrics are added up for each row.\n\n${fieldTable(report)}`,
    schema: commaSeparated(report.fields),
    examples: examplesOf(report, ({ requestedFields }) => requestedFields.join(',')),
  },
  ...['startInclusive', 'endExclusive'].map(parameterNamed),
  {
    name: 'groupBy',
    in: 'query',
    description:
      'The dimensions to group by, separated by commas: all dimensions in requestedFields. That is also the default.',
    schema: commaSeparated(dimensionsOf(report)),
    examples: examplesOf(report, ({ groupBy }) => groupBy?.join(',')),
  },
  parameterNamed('api-version'),
  ...filterParameters(report),
];

/** The fields as a Markdown table: name, role, type and meaning. */
function fieldTable({ fields, levels }: Report): string {
  const countedBy =
    levels &&
    `: counted by ${levels.finer.name} where the report is grouped by ${levels.finer.name}, else by ${levels.coarser.name}`;
  const rows = fields.map(
    (field) =>
      `| ${field.name} | ${field.role} | ${field.type} | ${field.meaning}${levels?.metric === field ? countedBy : ''} |`,
  );
  return ['| field | role | type | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/**
 * A list of names, described as one text (docs/contract.md#the-request). If it were an array, some clients would repeat
 * the parameter instead of writing commas, and some generators would make it a set, which has no order.
 */
const commaSeparated = (fields: readonly Field[]): Part => {
  const name = `(${fields.map(({ name }) => name).join('|')})`;
  return { type: 'string', pattern: `^${name}(,${name})*$` };
};

/**
 * The filters: one parameter for each dimension. All generators of clients can repeat a parameter. Few can
 * write several values for one property of a `deepObject`.
 */
function filterParameters(report: Report): Part[] {
  const examples = Object.values(exampleRequests(report));
  return dimensionsOf(report).map((dimension) => {
    const { name: field, meaning } = dimension;
    const example = examples.map(({ filter }) => filter?.[field]).find((values) => values);
    return {
      name: filterParameter(field),
      in: 'query',
      description:
        `Counts only the records with this ${meaning}. Repeated, any of the values will do. Filters on several ` +
        'fields must all hold.',
      style: 'form',
      explode: true,
      schema: { type: 'array', items: valueSchema(dimension), minItems: 1 },
      example: example ?? [exampleValue(dimension)],
    };
  });
}

/** The schema of one value of a filter on the dimension, as `lib/report/filter.ts` accepts it. */
function valueSchema(dimension: Dimension): Part {
  switch (dimension.type) {
    case 'datetime':
      return time(TIME_FILTER_FORM[dimension.grain]);
    case 'integer':
      return { type: 'integer', format: 'int64' };
    case 'string':
      return {
        type: 'string',
        minLength: 1,
        maxLength: MAX_TEXT_CHARACTERS,
        // The pattern excludes Unicode's category Cc and U+FFFD. It spells them out, because some engines for JSON
        // Schema don't know `\p{Cc}`.
        pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\ufffd]*$',
      };
  }
}
