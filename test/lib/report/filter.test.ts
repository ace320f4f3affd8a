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
import { filterParameter } from '../../../lib/report/filter.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';
import { tableOf } from '../../../lib/report/tables.ts';
import { expectedReport } from '../../e2e/expected-report.ts';
import { filterRecords, WINDOW } from './filter-records.ts';

const WANTED: Readonly<Record<string, readonly string[]>> = {
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

const CASES = FIELDS.flatMap(([report, lists]) =>
  dimensionsOf(report).map((dimension) => ({ report, dimension, lists })),
);

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  connection = await instance.connect();
  for (const { name: table, columns } of FIELDS.map(([report]) => tableOf(report))) {
    const typed = columns.map(({ name, type }) => `${name} ${type}`);
    await connection.run(`CREATE TABLE ${table} (${typed.join(', ')}, day varchar)`);
    for (const row of filterRecords) {
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

/** The report as DuckDB makes it. */
async function reportOn(
  report: Report,
  fields: string,
  filters: Readonly<Record<string, readonly string[]>>,
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
  const query = compileQuery(request, entitlement);
  const literals = [...query.parameters];
  const result = await connection.runAndReadAll(query.sql.replaceAll('?', () => literals.shift() ?? ''));
  const names = fields.split(',').map((name) => `"${name}"`);
  return `${[names, ...result.getRows().map((row) => row.map(cell))].map((row) => row.join(',')).join('\n')}\n`;
}

describe.each([
  ['every row', 'every-company' as const, filterRecords],
  [
    'the rows of its companies',
    [1n] as const,
    filterRecords.filter((row) => row['publisher_company_id'] === 1n),
  ],
])('the rows of a report, for a caller that sees %s,', (_, entitlement, records) => {
  it.each(CASES)(
    'under a filter on $dimension.name of $report.name, are those that the contract promises',
    async ({ report, dimension, lists }) => {
      const { name: field } = dimension;
      const wanted = wantedOf(dimension);
      for (const fields of lists)
        expect(
          await reportOn(report, fields, { [filterParameter(field)]: wanted }, entitlement),
          fields,
        ).toBe(
          expectedReport(report.name, records, {
            fields: fields.split(','),
            ...WINDOW,
            filters: { [field]: wanted },
          }),
        );
    },
  );
});
