import type { Dimension, Field, Metric } from './catalogue.ts';
import type { FilterValue } from './filter-value.ts';
import type { Filter, ReportRequest } from './parse-request.ts';
import { quoteInteger, quoteName, quoteText, quoteTime } from './quote-sql.ts';
import { PARTITION_COLUMN, TIME_COLUMN } from './tables.ts';
import { daysOf, isMidnight, utcDay, type Window } from './utc-time.ts';

/**
 * A query in the dialect that Trino, Athena and DuckDB share. `parameters` are SQL literals, in the order of
 * the `?` in `sql`: everything that the caller wrote goes there and never into the text.
 */
export interface CompiledQuery {
  readonly sql: string;
  readonly parameters: readonly string[];
}

/** A predicate and the literals for its `?`. */
interface Predicate {
  readonly sql: string;
  readonly parameters: readonly string[];
}

const HOUR_EXPRESSION = `date_trunc('hour', ${TIME_COLUMN})`;

/** The companies whose rows the caller may see. */
export type Entitlement = 'every-company' | readonly bigint[];

/**
 * Compiles a request into one query whose rows are the report's (contract 2, 4.1). Groups by raw values and
 * formats the few rows that result.
 */
export function compileQuery(request: ReportRequest, entitlement: Entitlement): CompiledQuery {
  const { report, requestedFields } = request;
  const fields = requestedFields.map((name) => [name, report.fields[name] as Field] as const);
  const dimensions = fields.filter(
    (entry): entry is readonly [string, Dimension] => entry[1].role === 'dimension',
  );
  const where = predicates(request, entitlement);

  const sources = fields.map(([name, field]) => `${aggregated(field, request)} AS ${quoteName(name)}`);
  const lines = [
    `SELECT ${fields.map(([name, field]) => formatted(name, field)).join(', ')}`,
    `FROM (SELECT ${sources.join(', ')}`,
    `FROM ${report.table}`,
    `WHERE ${where.map(({ sql }) => sql).join(' AND ')}`,
    ...(dimensions.length > 0
      ? [`GROUP BY ${dimensions.map(([, field]) => rawValue(field)).join(', ')}`]
      : []),
    ') AS report',
    ...(dimensions.length > 0
      ? [`ORDER BY ${dimensions.map(([name]) => `${quoteName(name)} NULLS LAST`).join(', ')}`]
      : []),
  ];
  return Object.freeze({
    sql: lines.join('\n'),
    parameters: Object.freeze(where.flatMap(({ parameters }) => parameters)),
  });
}

/** What a dimension's records are grouped by. */
function rawValue(dimension: Dimension): string {
  if (dimension.type !== 'datetime') return dimension.column;
  return dimension.grain === 'hour' ? HOUR_EXPRESSION : PARTITION_COLUMN;
}

/** A dimension's raw value, or a metric's sum: 0 where no record counts. */
function aggregated(field: Field, request: ReportRequest): string {
  if (field.role === 'dimension') return rawValue(field);
  const { levels } = field;
  if (levels && request.requestedFields.includes(levels.finer)) return total(field, levels.finerColumn);
  // With the coarser level's records let in for one metric, no other may count them.
  const leveled = coarserMetric(request)?.levels;
  const counted =
    leveled && !levels
      ? `CASE WHEN ${columnOf(request, leveled.finer)} IS NOT NULL THEN ${field.column} END`
      : field.column;
  return total(field, counted);
}

/** A sum, 0 of nothing. DuckDB counts on beyond 64 bits, where Trino fails: with the cast, both fail. */
function total({ type }: Metric, counted: string): string {
  const sum = `coalesce(sum(${counted}), 0)`;
  return type === 'integer' ? `CAST(${sum} AS bigint)` : sum;
}

/** A value of the result as the CSV holds it: instants as `YYYY-MM-DDThh:mm:ssZ` (contract 2.3). */
function formatted(name: string, field: Field): string {
  const value = quoteName(name);
  if (field.type !== 'datetime') return value;
  // The engines print an instant alike up to its hour, and differently after it.
  const text =
    field.grain === 'day'
      ? `${value} || 'T00:00:00Z'`
      : `replace(substr(CAST(${value} AS varchar), 1, 13), ' ', 'T') || ':00:00Z'`;
  return `${text} AS ${value}`;
}

function predicates(request: ReportRequest, entitlement: Entitlement): Predicate[] {
  const { report, requestedFields, filters } = request;
  const finer = Object.values(report.fields).find(isLeveled)?.levels?.finer;
  const leveled = coarserMetric(request);
  const visible = [...within(request.window), ...entitled(request, entitlement)];
  return [
    ...visible,
    ...(finer !== undefined && requestedFields.includes(finer)
      ? [plain(`${columnOf(request, finer)} IS NOT NULL`)]
      : []),
    ...filters.flatMap((filter) =>
      leveled?.levels?.finer === filter.field
        ? [finerOrItsCoarser(filter, leveled.levels, request, visible)]
        : matches(request, filter),
    ),
  ];
}

/** The records of the window. Whole days are decided by the partition alone, so `event_time` isn't read. */
function within(window: Window): Predicate[] {
  const { first, last } = daysOf(window);
  return [
    plain(`${PARTITION_COLUMN} BETWEEN ${quoteText(first)} AND ${quoteText(last)}`),
    ...(isMidnight(window.start) ? [] : [plain(`${TIME_COLUMN} >= ${quoteTime(window.start)}`)]),
    ...(isMidnight(window.end) ? [] : [plain(`${TIME_COLUMN} < ${quoteTime(window.end)}`)]),
  ];
}

/**
 * The rows that the caller may see. Not of the request's making, so that no parameter can widen it, and in the
 * text, so that it is part of what identifies the query.
 */
function entitled(request: ReportRequest, entitlement: Entitlement): Predicate[] {
  if (entitlement === 'every-company') return [];
  const company = columnOf(request, request.report.governedBy);
  return [plain(`${company} IN (${entitlement.map(quoteInteger).join(', ')})`)];
}

function matches(request: ReportRequest, { field, values }: Filter): Predicate[] {
  const dimension = request.report.fields[field] as Dimension;
  if (dimension.type !== 'datetime') return [isAnyOf(dimension.column, values)];
  const times = values as readonly number[];
  const days = [...new Set(times.map(utcDay))].map(quoteText);
  return [
    // The engine can't see a day in an hour: naming the days keeps the other partitions closed.
    plain(`${PARTITION_COLUMN} IN (${days.join(', ')})`),
    ...(dimension.grain === 'hour'
      ? [plain(`${HOUR_EXPRESSION} IN (${times.map(quoteTime).join(', ')})`)]
      : []),
  ];
}

/**
 * The records that hold one of the finer values, and the coarser level's records of the containers that hold
 * one of them in the window, as far as the caller may see. The look-up sees no other filter.
 */
function finerOrItsCoarser(
  { field, values }: Filter,
  levels: NonNullable<Metric['levels']>,
  request: ReportRequest,
  visible: readonly Predicate[],
): Predicate {
  const finer = columnOf(request, field);
  const coarser = columnOf(request, levels.coarser);
  const held = isAnyOf(finer, values);
  const lookup = [...visible, held];
  return {
    sql:
      `(${held.sql} OR (${finer} IS NULL AND ${coarser} IN ` +
      `(SELECT ${coarser} FROM ${request.report.table} WHERE ${lookup.map(({ sql }) => sql).join(' AND ')})))`,
    parameters: [...held.parameters, ...lookup.flatMap(({ parameters }) => parameters)],
  };
}

const plain = (sql: string): Predicate => ({ sql, parameters: [] });

const isAnyOf = (column: string, values: readonly FilterValue[]): Predicate => ({
  sql: `${column} IN (${values.map(() => '?').join(', ')})`,
  parameters: values.map(literal),
});

const literal = (value: FilterValue): string =>
  typeof value === 'bigint' ? quoteInteger(value) : quoteText(String(value));

const isLeveled = (field: Field): field is Metric => field.role === 'metric' && field.levels !== undefined;

/** The requested metric that counts the coarser level while a filter on the finer one holds; if there is one. */
function coarserMetric({ report, requestedFields, filters }: ReportRequest): Metric | undefined {
  return requestedFields
    .map((name) => report.fields[name] as Field)
    .filter(isLeveled)
    .find(
      ({ levels }) =>
        levels &&
        !requestedFields.includes(levels.finer) &&
        filters.some(({ field }) => field === levels.finer),
    );
}

const columnOf = ({ report }: ReportRequest, name: string): string => {
  const field = report.fields[name];
  if (!field || field.type === 'datetime') throw new TypeError(`${name} has no column of its own`);
  return field.column;
};
