import type { Dimension, Metric } from './catalogue.ts';
import { coarserMetric, columnOf, HOUR_EXPRESSION, isLeveled } from './columns.ts';
import type { FilterValue } from './filter-value.ts';
import type { Filter, ReportRequest } from './parse-request.ts';
import { quoteInteger, quoteText, quoteTime } from './quote-sql.ts';
import { PARTITION_COLUMN, TIME_COLUMN } from './tables.ts';
import { daysOf, isMidnight, utcDay, type Window } from './utc-time.ts';

/** The companies whose rows the caller may see. */
export type Entitlement = 'every-company' | readonly bigint[];

/** A predicate and the literals for its `?`. */
interface Predicate {
  readonly sql: string;
  readonly parameters: readonly string[];
}

/** What a record must fulfil to count: window, entitlement, levels, filters; all must hold (docs/contract.md#the-request). */
export function rowPredicates(request: ReportRequest, entitlement: Entitlement): Predicate[] {
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
