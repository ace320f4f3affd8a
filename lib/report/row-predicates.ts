import { type Levels, ownerOf, type Report } from './catalogue.ts';
import { coarserLevels, HOUR_EXPRESSION } from './columns.ts';
import type { Entitlement } from './entitlement.ts';
import type { ColumnFilter, Filter, ReportRequest } from './parse-request.ts';
import { quoteInteger, quoteText, quoteTime } from './quote-sql.ts';
import { PARTITION_COLUMN, TIME_COLUMN } from './tables.ts';
import { daysOf, isMidnight, utcDay, type Window } from './utc-time.ts';

/** A predicate and the literals for its `?`. */
interface Predicate {
  readonly sql: string;
  readonly parameters: readonly string[];
}

/**
 * What a record must fulfil to count: window, entitlement, levels and filters, all of them
 * (docs/contract.md#the-request).
 */
export function rowPredicates(request: ReportRequest, entitlement: Entitlement): Predicate[] {
  const { report, requestedFields, filters } = request;
  const { levels } = report;
  const shown = coarserLevels(request);
  const visible = [...within(request.window), ...entitled(report, entitlement)];
  return [
    ...visible,
    ...(levels && requestedFields.includes(levels.finer)
      ? [plain(`${levels.finer.column} IS NOT NULL`)]
      : []),
    ...filters.flatMap((filter) =>
      shown && filter.kind === 'column' && filter.dimension === shown.finer
        ? [finerOrItsCoarser(filter, shown, report, visible)]
        : matches(filter),
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
 * The rows that the caller may see. Made without the request, so that no parameter can widen it. The ids are in the
 * text, so that they are part of what identifies the query.
 */
function entitled(report: Report, entitlement: Entitlement): Predicate[] {
  if (entitlement === 'every-company') return [];
  return [plain(`${ownerOf(report).column} IN (${entitlement.map(quoteInteger).join(', ')})`)];
}

function matches(filter: Filter): Predicate[] {
  if (filter.kind === 'column') return [isAnyOf(filter)];
  const { dimension, values: times } = filter;
  const days = [...new Set(times.map(utcDay))].map(quoteText);
  return [
    // The engine can't derive the day from the hour: with the days named, it reads no other partition.
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
  filter: ColumnFilter,
  { finer: { column: finer }, coarser: { column: coarser } }: Levels,
  { table }: Report,
  visible: readonly Predicate[],
): Predicate {
  const held = isAnyOf(filter);
  const lookup = [...visible, held];
  return {
    sql:
      `(${held.sql} OR (${finer} IS NULL AND ${coarser} IN ` +
      `(SELECT ${coarser} FROM ${table} WHERE ${lookup.map(({ sql }) => sql).join(' AND ')})))`,
    parameters: [...held.parameters, ...lookup.flatMap(({ parameters }) => parameters)],
  };
}

const plain = (sql: string): Predicate => ({ sql, parameters: [] });

const isAnyOf = ({ dimension, values }: ColumnFilter): Predicate => ({
  sql: `${dimension.column} IN (${values.map(() => '?').join(', ')})`,
  parameters: values.map(literal),
});

const literal = (value: string | bigint): string =>
  typeof value === 'bigint' ? quoteInteger(value) : quoteText(value);
