import { TooManyCompanies } from '../problems/problem.ts';
import { type Dimension, type Field, type Levels, type Metric, ownerOf, type Report } from './catalogue.ts';
import { type Entitlement, LONGEST_SQL } from './entitlement.ts';
import type { Filter } from './filter.ts';
import type { ReportRequest } from './parse-request.ts';
import { quoteInteger, quoteName, quoteText, quoteTime } from './quote-sql.ts';
import { PARTITION_COLUMN, TIME_COLUMN } from './tables.ts';
import { daysOf, isMidnight, utcDay, type Window } from './utc-time.ts';

/**
 * A query in the dialect that Trino, Athena and DuckDB share. `parameters` are SQL literals, in the order of the `?` in
 * `sql`. Ids and texts that the caller wrote are only in `parameters`, never in `sql`. Times are in `sql`: they are
 * parsed, and formatted by this service.
 */
export interface CompiledQuery {
  readonly sql: string;
  readonly parameters: readonly string[];
}

/** Puts a value of the caller into the query: takes it as the next parameter, and returns the `?` that stands for it. */
type Bind = (value: string | bigint) => string;

/**
 * Compiles a request into one query, whose rows are the report's rows (docs/contract.md#fields-and-grouping). The query
 * groups by raw values, and formats only the few rows that result. Throws TooManyCompanies if the text is too long.
 */
export function compileQuery(request: ReportRequest, entitlement: Entitlement): CompiledQuery {
  const { report, requestedFields } = request;
  const dimensions = requestedFields.filter((field) => field.role === 'dimension');
  const parameters: string[] = [];
  const bind: Bind = (value) => {
    parameters.push(typeof value === 'bigint' ? quoteInteger(value) : quoteText(value));
    return '?';
  };

  const sources = requestedFields.map((field) => `${aggregated(field, request)} AS ${quoteName(field.name)}`);
  const lines = [
    `SELECT ${requestedFields.map(formatted).join(', ')}`,
    `FROM (SELECT ${sources.join(', ')}`,
    `FROM ${report.table}`,
    `WHERE ${all(conditions(request, entitlement, bind))}`,
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
  return Object.freeze({ sql, parameters: Object.freeze(parameters) });
}

/** A dimension's raw value, or a metric's sum, which is 0 if no record counts. */
function aggregated(field: Field, request: ReportRequest): string {
  if (field.role === 'dimension') return rawValue(field);
  const { levels } = request.report;
  if (levels?.metric === field && request.requestedFields.includes(levels.finer))
    return total(field, levels.finerColumn);
  // The coarser level's records pass the filter for one metric only: no other metric may count them.
  const coarser = coarserLevels(request);
  return total(
    field,
    coarser && coarser.metric !== field
      ? `CASE WHEN ${coarser.finer.column} IS NOT NULL THEN ${field.column} END`
      : field.column,
  );
}

/** The sum, or 0. Only with the cast does DuckDB fail as Trino does if a count exceeds 64 bits. */
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

/** The conditions that a record must fulfil to count (docs/contract.md#the-request). */
function conditions(request: ReportRequest, entitlement: Entitlement, bind: Bind): string[] {
  const { report, requestedFields, filters } = request;
  const { levels } = report;
  const coarser = coarserLevels(request);
  const visible = [...within(request.window), ...entitled(report, entitlement)];
  return [
    ...visible,
    ...(levels && requestedFields.includes(levels.finer) ? [`${levels.finer.column} IS NOT NULL`] : []),
    ...filters.flatMap((filter) =>
      coarser?.finer === filter.dimension
        ? [finerOrContainerRows(() => passes(filter, bind), coarser, report, visible)]
        : passes(filter, bind),
    ),
  ];
}

/** The records of the window. For whole days the partition is enough, so `event_time` isn't read. */
function within(window: Window): string[] {
  const { first, last } = daysOf(window);
  return [
    `${PARTITION_COLUMN} BETWEEN ${quoteText(first)} AND ${quoteText(last)}`,
    ...(isMidnight(window.start) ? [] : [`${TIME_COLUMN} >= ${quoteTime(window.start)}`]),
    ...(isMidnight(window.end) ? [] : [`${TIME_COLUMN} < ${quoteTime(window.end)}`]),
  ];
}

/**
 * The rows that the caller may see. This condition does not depend on the request, so no parameter can widen it. The
 * ids are in the SQL text, so that queries for different companies have different texts.
 */
const entitled = (report: Report, entitlement: Entitlement): string[] =>
  entitlement === 'every-company' ? [] : [oneOf(ownerOf(report).column, entitlement.map(quoteInteger))];

function passes({ kind, dimension, values }: Filter, bind: Bind): string[] {
  if (kind === 'column') return [oneOf(dimension.column, values.map(bind))];
  const onDays = oneOf(PARTITION_COLUMN, [...new Set(values.map(utcDay))].map(quoteText));
  if (dimension.grain === 'day') return [onDays];
  // The engine can't derive days from hours. Because the query names the days, it reads no other partition.
  return [onDays, oneOf(HOUR_EXPRESSION, values.map(quoteTime))];
}

/** A record with an unknown value passes no filter. */
const oneOf = (value: string, wanted: readonly string[]): string => `${value} IN (${wanted.join(', ')})`;

/**
 * The records whose finer value passes, and the coarser level's records of each container that has such a record in the
 * window. The look-up of these containers includes only rows that the caller may see, and ignores filters on other
 * fields.
 * @param passing makes the conditions of the filter, once for each place in the text, so that each has its own `?`
 */
function finerOrContainerRows(
  passing: () => readonly string[],
  { finer: { column: finer }, coarser: { column: coarser } }: Levels,
  { table }: Report,
  visible: readonly string[],
): string {
  const finerRows = all(passing());
  const lookup = all([...visible, ...passing()]);
  return `(${finerRows} OR (${finer} IS NULL AND ${coarser} IN (SELECT ${coarser} FROM ${table} WHERE ${lookup})))`;
}

const all = (conditions: readonly string[]): string => conditions.join(' AND ');

const HOUR_EXPRESSION = `date_trunc('hour', ${TIME_COLUMN})`;

/** The SQL expression by which a dimension groups records. */
function rawValue(dimension: Dimension): string {
  if (dimension.type !== 'datetime') return dimension.column;
  return dimension.grain === 'hour' ? HOUR_EXPRESSION : PARTITION_COLUMN;
}

/** The levels, if the request asks for their metric and filters by the finer dimension without showing it. */
function coarserLevels({ report: { levels }, requestedFields, filters }: ReportRequest): Levels | undefined {
  return levels &&
    requestedFields.includes(levels.metric) &&
    !requestedFields.includes(levels.finer) &&
    filters.some(({ dimension }) => dimension === levels.finer)
    ? levels
    : undefined;
}
