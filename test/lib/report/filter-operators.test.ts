import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  advertiserReport,
  type Dimension,
  dimensionsOf,
  publisherReport,
  type Report,
} from '../../../lib/report/catalogue.ts';
import { compileQuery } from '../../../lib/report/compile-query.ts';
import type { Entitlement } from '../../../lib/report/entitlement.ts';
import { type Filter, inFixedOrder } from '../../../lib/report/filter.ts';
import {
  filterParameter,
  type OperatorName,
  operatorNames,
  operatorOf,
} from '../../../lib/report/filter-operators.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';
import { tableOf } from '../../../lib/report/tables.ts';
import { expectedReport } from '../../e2e/expected-report.ts';
import { allBut, type Lets, meaningOf } from './operator-meanings.ts';
import { operatorRecords, WINDOW } from './operator-records.ts';

/** An operator under test, and the filters that replace the filters of the parsed request. */
interface Tested {
  readonly words: string;
  readonly operator: OperatorName;
  readonly lets: () => Lets;
  readonly replaced: (filters: readonly Filter[]) => readonly Filter[];
}

const TESTED: readonly Tested[] = [
  ...operatorNames.map((operator) => ({
    words: operator,
    operator,
    lets: () => meaningOf(operator),
    replaced: (filters: readonly Filter[]) => filters,
  })),
  {
    words: 'an operator of this test that excludes values',
    operator: 'filter',
    lets: () => allBut.lets,
    replaced: (filters) => filters.map((filter) => ({ ...filter, operator: allBut })),
  },
];

const WANTED: Readonly<Record<string, readonly string[]>> = {
  // Hours of one day: if an operator lets other hours pass too, a query that reads only this day loses their records.
  DateTime: ['2026-01-02T10:00:00Z', '2026-01-02T11:00:00Z'],
  Day: ['2026-01-02T00:00:00Z'],
  PlacementId: ['11', '13'],
  ContainerId: ['100', '7'],
  DeviceOrProxy: ['tv', 'radio'],
};
const wantedOf = ({ name, type }: Dimension) => WANTED[name] ?? (type === 'string' ? ['tv'] : ['1']);

/** The fields to request. Opens has two levels, and changes how the metrics beside it are counted. */
const FIELDS: readonly (readonly [Report, readonly string[]])[] = [
  [
    publisherReport,
    ['Clicks', 'Opens,Clicks', 'PlacementId,Opens,Clicks', 'Day,Opens', 'DeviceOrProxy,Opens'],
  ],
  [advertiserReport, ['Clicks', 'PlacementId,Clicks']],
];

const CASES = TESTED.flatMap((tested) =>
  FIELDS.flatMap(([report, lists]) =>
    dimensionsOf(report).map((dimension) => ({ ...tested, report, dimension, lists })),
  ),
);

/** Names the code that is probably wrong when a filter on this dimension gives wrong rows. */
function suspectOf({ levels }: Report, dimension: Dimension): string {
  if (dimension === levels?.finer) return 'sql and passesUnknown, and the look-up of containers';
  if (dimension.type !== 'datetime') return 'sql and passesUnknown';
  return dimension.grain === 'day'
    ? 'sql, which chooses the days that are read'
    : 'sql, and at passesWantedOnly, with which only the days of the hours are read';
}

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  connection = await instance.connect();
  for (const { name: table, columns } of FIELDS.map(([report]) => tableOf(report))) {
    const typed = columns.map(({ name, type }) => `${name} ${type}`);
    await connection.run(`CREATE TABLE ${table} (${typed.join(', ')}, day varchar)`);
    for (const row of operatorRecords) {
      const values = [...columns.map(({ name }) => row[name]), String(row['event_time']).slice(0, 10)];
      await connection.run(`INSERT INTO ${table} VALUES (${values.map(literal).join(', ')})`);
    }
  }
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value ?? 'NULL'));
const cell = (value: unknown) => (typeof value === 'string' ? `"${value}"` : String(value ?? ''));

/** The report as DuckDB makes it, with the request's filters replaced. */
async function reportOn(
  report: Report,
  fields: string,
  filters: Readonly<Record<string, readonly string[]>>,
  replaced: (filters: readonly Filter[]) => readonly Filter[],
  entitlement: Entitlement = 'every-company',
): Promise<string> {
  const parameters = {
    requestedFields: [fields],
    startInclusive: [WINDOW.start],
    endExclusive: [WINDOW.end],
    ...filters,
    'api-version': ['1.0'],
  };
  const request = parseRequest(report, { parameters, accept: undefined });
  const query = compileQuery({ ...request, filters: replaced(request.filters) }, entitlement);
  const literals = [...query.parameters];
  const result = await connection.runAndReadAll(query.sql.replaceAll('?', () => literals.shift() ?? ''));
  const names = fields.split(',').map((name) => `"${name}"`);
  return `${[names, ...result.getRows().map((row) => row.map(cell))].map((row) => row.join(',')).join('\n')}\n`;
}

describe('the rows of a report', () => {
  it.each(CASES)(
    'under $words, on $dimension.name of $report.name, are the rows that the operator’s meaning gives',
    async ({ words, operator, lets, replaced, report, dimension, lists }) => {
      const { name: field } = dimension;
      const wanted = wantedOf(dimension);
      const parameter = filterParameter({ operator, field });
      for (const fields of lists)
        expect(
          await reportOn(report, fields, { [parameter]: wanted }, replaced),
          `${words} on ${field}: ${fields} counts other records than its meaning. Look at its ${suspectOf(report, dimension)}`,
        ).toBe(
          expectedReport(report.name, operatorRecords, {
            fields: fields.split(','),
            ...WINDOW,
            filters: { [field]: wanted },
            lets: lets(),
          }),
        );
    },
  );

  it.each(CASES)(
    'under $words, on $dimension.name of $report.name, are only rows of the caller’s companies',
    async ({ words, operator, lets, replaced, report, dimension, lists }) => {
      const { name: field } = dimension;
      const wanted = wantedOf(dimension);
      const own = operatorRecords.filter((row) => row['publisher_company_id'] === 1n);
      for (const fields of lists)
        expect(
          await reportOn(report, fields, { [filterParameter({ operator, field })]: wanted }, replaced, [1n]),
          `${words} on ${field}: ${fields} counts rows that the caller may not see. Is an OR of its sql in brackets?`,
        ).toBe(
          expectedReport(report.name, own, {
            fields: fields.split(','),
            ...WINDOW,
            filters: { [field]: wanted },
            lets: lets(),
          }),
        );
    },
  );

  it('under two operators on placements, count the Opens of each container that has a placement passing both', async () => {
    const placements = { 'filter[PlacementId]': ['11', '13'] };
    const both = await reportOn(publisherReport, 'Opens,Clicks', placements, (filters) => [
      ...filters,
      ...filters.map(
        (filter): Filter =>
          filter.kind === 'column' ? { ...filter, operator: allBut, values: [13n] } : filter,
      ),
    ]);
    expect(both).toBe(
      expectedReport(publisherReport.name, operatorRecords, {
        fields: ['Opens', 'Clicks'],
        ...WINDOW,
        filters: { PlacementId: ['11'] },
      }),
    );
  });
});

it('two filters on one field have one order, whichever the request names first', () => {
  const dimensions = dimensionsOf(publisherReport);
  const column = dimensions.find((dimension) => dimension.type === 'string');
  const filters = [operatorOf('filter'), allBut].flatMap((operator): Filter[] =>
    column ? [{ kind: 'column', operator, dimension: column, values: [] }] : [],
  );
  const order = inFixedOrder(dimensions);
  expect(filters).toHaveLength(2);
  expect(filters.toReversed().sort(order)).toEqual(filters.toSorted(order));
});
