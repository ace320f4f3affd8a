import type { DayState } from '../lake/days-answer.ts';
import {
  type Dimension,
  dimensionsOf,
  type Field,
  type FieldType,
  fieldOf,
  metricsOf,
  type Report,
  reports,
} from '../report/catalogue.ts';
import { filterParameter, MAX_TEXT_CHARACTERS, TIME_FILTER_FORM } from '../report/filter.ts';
import { formatUtcTime, patternOf, wholeDay } from '../report/utc-time.ts';
import { type Part, parametersNamed } from './parts.ts';

/** A request that a reader can send unchanged. The tests send it. */
export interface ExampleRequest {
  readonly summary: string;
  readonly requestedFields: readonly string[];
  readonly groupBy?: readonly string[];
  readonly filter?: Readonly<Record<string, readonly unknown[]>>;
}

export const EXAMPLE_WINDOW = {
  startInclusive: formatUtcTime(Date.UTC(2026, 0, 1)),
  endExclusive: formatUtcTime(Date.UTC(2026, 1, 1)),
};

/** Examples for a report, by name. All parameters of one request have their example under the same name. */
export function exampleRequests(report: Report): Readonly<Record<string, ExampleRequest>> {
  const metrics = metricsOf(report).map(({ name }) => name);
  const last = (type: FieldType) => dimensionsOf(report).findLast((field) => field.type === type)?.name ?? '';
  const day = last('datetime');
  const identifier = last('integer');
  const text = last('string');
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
export const examplesOf = (report: Report, value: (request: ExampleRequest) => unknown) =>
  Object.fromEntries(
    Object.entries(exampleRequests(report))
      .filter(([, request]) => value(request) !== undefined)
      .map(([name, request]) => [name, { summary: request.summary, value: value(request) }]),
  );

/** A value that a field of each type can have. The time is a midnight, so that it fits both grains. */
const EXAMPLE_VALUE = {
  datetime: formatUtcTime(Date.UTC(2026, 0, 5)),
  integer: 1042,
  float: '12.500000',
  string: 'Mobile',
};

/** A file that could answer the example: the header line and one row (docs/contract.md#the-file). */
export function exampleCsv(report: Report, { requestedFields }: ExampleRequest): string {
  const value = (name: string) => {
    const type = fieldOf(report, name)?.type ?? 'string';
    if (type === 'integer' || type === 'float') return EXAMPLE_VALUE[type];
    return `"${type === 'datetime' ? EXAMPLE_WINDOW.startInclusive : EXAMPLE_VALUE.string}"`;
  };
  const header = requestedFields.map((name) => `"${name}"`).join(',');
  return `${header}\n${requestedFields.map(value).join(',')}\n`;
}

const exampleDay = (day: string, state: DayState['state'], version: string): DayState => {
  const { start, end } = wholeDay(day);
  return { day, startInclusive: formatUtcTime(start), endExclusive: formatUtcTime(end), state, version };
};

/** What a request for the states of days can be answered with. */
export const exampleDays = {
  report: reports[0]?.name,
  startInclusive: '2026-01-31T00:00:00Z',
  endExclusive: '2026-02-02T00:00:00Z',
  days: [
    exampleDay('2026-01-31', 'final', '0b7f2a4be9a1c6d83c1f5a9d27e0b6c4'),
    exampleDay('2026-02-01', 'open', '5ad0c3e2f1884be7a6b9d01c3e4f7a28'),
  ],
};

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
  // One parameter for each dimension. All generators of clients can repeat a parameter. Few can write several values
  // for one property of a `deepObject`.
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

/** The schema of one value of a filter on the dimension, as `lib/report/filter.ts` accepts it. */
function valueSchema(dimension: Dimension): Part {
  switch (dimension.type) {
    case 'datetime':
      return { type: 'string', pattern: patternOf(TIME_FILTER_FORM[dimension.grain]) };
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
