import { TooManyCompanies } from '../problems/problem.ts';
import type { Field, Metric } from './catalogue.ts';
import { type Entitlement, LONGEST_SQL } from './entitlement.ts';
import type { ReportRequest } from './parse-request.ts';
import { quoteName } from './quote-sql.ts';
import { coarserLevels, rawValue, rowPredicates } from './row-predicates.ts';

/**
 * A query in the dialect that Trino, Athena and DuckDB share. `parameters` are SQL literals, in the order of the `?` in
 * `sql`. The ids and texts that the caller wrote go into `parameters` and never into `sql`. Times go into `sql`, but
 * they are parsed, and formatted by this service.
 */
export interface CompiledQuery {
  readonly sql: string;
  readonly parameters: readonly string[];
}

/**
 * Compiles a request into one query, whose rows are the report's rows (docs/contract.md#fields-and-grouping). The query
 * groups by raw values, and formats only the few rows that result. Throws TooManyCompanies if the text is too long.
 */
export function compileQuery(request: ReportRequest, entitlement: Entitlement): CompiledQuery {
  const { report, requestedFields } = request;
  const dimensions = requestedFields.filter((field) => field.role === 'dimension');
  const where = rowPredicates(request, entitlement);

  const sources = requestedFields.map((field) => `${aggregated(field, request)} AS ${quoteName(field.name)}`);
  const lines = [
    `SELECT ${requestedFields.map(formatted).join(', ')}`,
    `FROM (SELECT ${sources.join(', ')}`,
    `FROM ${report.table}`,
    `WHERE ${where.map(({ sql }) => sql).join(' AND ')}`,
    ...(dimensions.length > 0 ? [`GROUP BY ${dimensions.map(rawValue).join(', ')}`] : []),
    ') AS report',
    // The contract promises this order: docs/contract.md#the-file.
    ...(dimensions.length > 0
      ? [`ORDER BY ${dimensions.map(({ name }) => `${quoteName(name)} NULLS LAST`).join(', ')}`]
      : []),
  ];
  const sql = lines.join('\n');
  // Nothing else is long: a request has at most 10 kB.
  if (sql.length > LONGEST_SQL) throw new TooManyCompanies(entitlement.length);
  return Object.freeze({
    sql,
    parameters: Object.freeze(where.flatMap(({ parameters }) => parameters)),
  });
}

/** A dimension's raw value, or a metric's sum, which is 0 if no record counts. */
function aggregated(field: Field, request: ReportRequest): string {
  if (field.role === 'dimension') return rawValue(field);
  const { levels } = request.report;
  if (levels?.metric === field && request.requestedFields.includes(levels.finer))
    return total(field, levels.finerColumn);
  // The coarser level's records pass the filter for one metric only: no other metric may count them.
  const shown = coarserLevels(request);
  return total(
    field,
    shown && shown.metric !== field
      ? `CASE WHEN ${shown.finer.column} IS NOT NULL THEN ${field.column} END`
      : field.column,
  );
}

/**
 * The sum, or 0 if no record counts. If a sum of counts does not fit into a signed 64-bit integer, Trino fails and
 * DuckDB doesn't. With the cast, both fail.
 */
function total({ type }: Metric, counted: string): string {
  const sum = `coalesce(sum(${counted}), 0)`;
  return type === 'integer' ? `CAST(${sum} AS bigint)` : sum;
}

/** A value of the result as the CSV shows it: instants as `YYYY-MM-DDThh:mm:ssZ` (docs/contract.md#the-file). */
function formatted(field: Field): string {
  const value = quoteName(field.name);
  if (field.type !== 'datetime') return value;
  // The engines print an instant in the same way up to its hour, and differently after the hour.
  const text =
    field.grain === 'day'
      ? `${value} || 'T00:00:00Z'`
      : `replace(substr(CAST(${value} AS varchar), 1, 13), ' ', 'T') || ':00:00Z'`;
  return `${text} AS ${value}`;
}
