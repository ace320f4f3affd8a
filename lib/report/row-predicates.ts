import { type Dimension, type Levels, ownerOf, type Report } from './catalogue.ts';
import type { Entitlement } from './entitlement.ts';
import type { Filter } from './filter.ts';
import type { ReportRequest } from './parse-request.ts';
import { quoteInteger, quoteText, quoteTime } from './quote-sql.ts';
import { PARTITION_COLUMN, TIME_COLUMN } from './tables.ts';
import { daysOf, isMidnight, utcDay, type Window } from './utc-time.ts';

/** A predicate and the literals for its `?` placeholders. */
interface Predicate {
  readonly sql: string;
  readonly parameters: readonly string[];
}

/**
 * The conditions that a record must fulfil to count: those of the window, the entitlement, the levels and the filters
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
    ...filters.flatMap((filter) => {
      const passing = passes(filter);
      return shown?.finer === filter.dimension
        ? [finerOrContainerRows(passing, shown, report, visible)]
        : passing;
    }),
  ];
}

/** The records of the window. For whole days the partition is enough, so `event_time` isn't read. */
function within(window: Window): Predicate[] {
  const { first, last } = daysOf(window);
  return [
    plain(`${PARTITION_COLUMN} BETWEEN ${quoteText(first)} AND ${quoteText(last)}`),
    ...(isMidnight(window.start) ? [] : [plain(`${TIME_COLUMN} >= ${quoteTime(window.start)}`)]),
    ...(isMidnight(window.end) ? [] : [plain(`${TIME_COLUMN} < ${quoteTime(window.end)}`)]),
  ];
}

/**
 * The rows that the caller may see. This condition does not depend on the request, so no parameter can widen it. The
 * ids are in the SQL text, so that queries for different companies have different texts.
 */
function entitled(report: Report, entitlement: Entitlement): Predicate[] {
  if (entitlement === 'every-company') return [];
  return [plain(`${ownerOf(report).column} IN (${entitlement.map(quoteInteger).join(', ')})`)];
}

/** The records that a filter lets pass. */
function passes(filter: Filter): Predicate[] {
  if (filter.kind === 'column') {
    const marks = filter.values.map(() => '?');
    return [{ sql: oneOf(filter.dimension.column, marks), parameters: filter.values.map(literal) }];
  }
  const days = [...new Set(filter.values.map(utcDay))].map(quoteText);
  const onDays = plain(oneOf(PARTITION_COLUMN, days));
  if (filter.dimension.grain === 'day') return [onDays];
  // The engine can't derive the day from the hour. Because the query names the days, the engine reads no other
  // partition.
  return [onDays, plain(oneOf(HOUR_EXPRESSION, filter.values.map(quoteTime)))];
}

/** A record with an unknown value passes no filter. */
const oneOf = (value: string, wanted: readonly string[]): string => `${value} IN (${wanted.join(', ')})`;

/**
 * The records whose finer value passes, and the coarser level's records of each container that has such a record in the
 * window. The look-up of these containers includes only rows that the caller may see, and ignores filters on other
 * fields.
 */
function finerOrContainerRows(
  passing: readonly Predicate[],
  { finer: { column: finer }, coarser: { column: coarser } }: Levels,
  { table }: Report,
  visible: readonly Predicate[],
): Predicate {
  const held = all(passing);
  const lookup = all([...visible, held]);
  return {
    sql: `(${held.sql} OR (${finer} IS NULL AND ${coarser} IN (SELECT ${coarser} FROM ${table} WHERE ${lookup.sql})))`,
    parameters: [...held.parameters, ...lookup.parameters],
  };
}

const plain = (sql: string): Predicate => ({ sql, parameters: [] });

const all = (predicates: readonly Predicate[]): Predicate => ({
  sql: predicates.map(({ sql }) => sql).join(' AND '),
  parameters: predicates.flatMap(({ parameters }) => parameters),
});

const literal = (value: string | bigint): string =>
  typeof value === 'bigint' ? quoteInteger(value) : quoteText(value);

/** The hour of a record. */
const HOUR_EXPRESSION = `date_trunc('hour', ${TIME_COLUMN})`;

/** The SQL expression by which a dimension groups records. */
export function rawValue(dimension: Dimension): string {
  if (dimension.type !== 'datetime') return dimension.column;
  return dimension.grain === 'hour' ? HOUR_EXPRESSION : PARTITION_COLUMN;
}

/**
 * The report's levels, if the request asks for their metric, and filters by the finer dimension without showing it;
 * otherwise undefined.
 */
export function coarserLevels({
  report: { levels },
  requestedFields,
  filters,
}: ReportRequest): Levels | undefined {
  return levels &&
    requestedFields.includes(levels.metric) &&
    !requestedFields.includes(levels.finer) &&
    filters.some(({ dimension }) => dimension === levels.finer)
    ? levels
    : undefined;
}
