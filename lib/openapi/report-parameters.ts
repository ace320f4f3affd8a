import { type Dimension, dimensionsOf, fieldOf, metricsOf, type Report } from '../report/catalogue.ts';
import { filterParameter, MAX_TEXT_CHARACTERS, TIME_FILTER_FORM } from '../report/filter.ts';
import { patternOf } from '../report/utc-time.ts';
import { COUNT, headersNamed, like, type Part, parameter, parametersNamed, TEXT } from './components.ts';

/** A value for a filter on a field of each type. The time is a midnight, so that it fits both grains. */
const EXAMPLE_VALUE = { datetime: '2026-01-05T00:00:00Z', integer: 1042, string: 'Mobile' };

/** A value of each type in the file (docs/contract.md#the-file). */
const CELL = { datetime: '"2026-01-01T00:00:00Z"', integer: 1042, float: '12.500000', string: '"Mobile"' };

interface ExampleRequest {
  readonly summary: string;
  readonly requestedFields: readonly string[];
  readonly groupBy?: readonly string[];
  readonly filter?: Readonly<Record<string, readonly unknown[]>>;
}

/** Requests that a reader can send unchanged, by the name of their examples in each parameter. The tests send them. */
export function exampleRequests(report: Report): Readonly<Record<string, ExampleRequest>> {
  const metrics = metricsOf(report).map(({ name }) => name);
  const last = (type: string) => dimensionsOf(report).findLast((field) => field.type === type)?.name ?? '';
  const [day, identifier, text] = [last('datetime'), last('integer'), last('string')];
  return {
    daily: { summary: 'Every metric, day by day', requestedFields: [day, ...metrics] },
    filtered: {
      summary: `Every metric by ${identifier}, for one ${day} and two values of ${text}`,
      requestedFields: [identifier, ...metrics],
      groupBy: [identifier],
      filter: { [day]: [EXAMPLE_VALUE.datetime], [text]: [EXAMPLE_VALUE.string, 'Tablet'] },
    },
    totals: { summary: 'One row of totals', requestedFields: metrics },
  };
}

/** What each example gives, for the member `examples`. Requests that give undefined are left out. */
const examplesOf = (report: Report, valueIn: (request: ExampleRequest, report: Report) => unknown): Part =>
  Object.fromEntries(
    Object.entries(exampleRequests(report)).flatMap(([name, request]) => {
      const value = valueIn(request, report);
      return value === undefined ? [] : [[name, { summary: request.summary, value }]];
    }),
  );

/** A file that could answer the example: the header line and one row. */
export function exampleCsv({ requestedFields }: ExampleRequest, report: Report): string {
  const names = requestedFields.map((name) => `"${name}"`);
  const cells = requestedFields.map((name) => CELL[fieldOf(report, name)?.type ?? 'string']);
  return `${names.join(',')}\n${cells.join(',')}\n`;
}

/** A report as the download URL gives it. The waiting room does not know which report it leads to: no examples. */
export const csvOf = (report?: Report): Part => ({
  description: `\
The report, as a client that follows redirects gets it from the download URL. Numbers have no quotes, texts and times \
have double quotes, and an unknown value is an empty field.`,
  headers: headersNamed('Content-Encoding'),
  content: { 'text/csv': { schema: TEXT, examples: report ? examplesOf(report, exampleCsv) : {} } },
});

export const daysParameters = parametersNamed('startInclusive', 'daysEndExclusive', 'api-version');
export const waitingParameters = [
  parameter('path', 'ticket', TEXT)`Identifies the report. Anyone who has it can get the report.`,
  parameter('path', 'hop', COUNT)`Counts the redirects, so that no two URLs are the same.`,
];

/** Every query parameter of a report's operation. Only the filters may be repeated. */
export const reportParameters = (report: Report): Part[] => [
  {
    name: 'requestedFields',
    in: 'query',
    required: true,
    description: `\
The columns of the report, in this order, separated by commas. Rows are grouped by the dimensions among them; metrics are \
added up for each row.

${fieldTable(report)}`,
    schema: commaSeparated(report.fields),
    examples: examplesOf(report, ({ requestedFields }) => requestedFields.join(',')),
  },
  ...parametersNamed('startInclusive', 'endExclusive'),
  {
    name: 'groupBy',
    in: 'query',
    description:
      'The dimensions to group by, separated by commas: all dimensions in requestedFields. That is also the default.',
    schema: commaSeparated(dimensionsOf(report)),
    examples: examplesOf(report, ({ groupBy }) => groupBy?.join(',')),
  },
  ...parametersNamed('api-version'),
  // One parameter for each dimension: generated clients can repeat one, and few can write lists in a `deepObject`.
  ...dimensionsOf(report).map((dimension) => ({
    name: filterParameter(dimension.name),
    in: 'query',
    description: `\
Counts only the records with this ${dimension.meaning}. Repeated, any of the values will do. Filters on several fields \
must all hold.`,
    style: 'form',
    explode: true,
    schema: { type: 'array', items: valueSchema(dimension), minItems: 1 },
    example: exampleRequests(report)['filtered']?.filter?.[dimension.name] ?? [EXAMPLE_VALUE[dimension.type]],
  })),
];

function fieldTable({ fields, levels }: Report): string {
  const rows = fields.map((field) => {
    const countedBy =
      levels?.metric === field
        ? `: counted by ${levels.finer.name} where the report is grouped by ${levels.finer.name}, else by ${levels.coarser.name}`
        : '';
    return `| ${field.name} | ${field.role} | ${field.type} | ${field.meaning}${countedBy} |`;
  });
  return ['| field | role | type | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

// Described as one text (docs/contract.md#the-request). If it were an array, some clients would repeat the parameter
// instead of writing commas, and some generators would make it a set, which has no order.
const commaSeparated = (fields: Report['fields']): Part => {
  const name = `(${fields.map(({ name }) => name).join('|')})`;
  return like(`^${name}(,${name})*$`);
};

/** The schema of one value of a filter on the dimension, as `lib/report/filter.ts` accepts it. */
function valueSchema(dimension: Dimension): Part {
  if (dimension.type === 'datetime') return like(patternOf(TIME_FILTER_FORM[dimension.grain]));
  if (dimension.type === 'integer') return { type: 'integer', format: 'int64' };
  // Without Unicode's category Cc and U+FFFD, spelled out: some engines for JSON Schema don't know `\p{Cc}`.
  const pattern = '^[^\\u0000-\\u001f\\u007f-\\u009f\\ufffd]*$';
  return { type: 'string', minLength: 1, maxLength: MAX_TEXT_CHARACTERS, pattern };
}
