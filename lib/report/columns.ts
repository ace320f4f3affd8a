import type { Dimension, Levels } from './catalogue.ts';
import type { ReportRequest } from './parse-request.ts';
import { PARTITION_COLUMN, TIME_COLUMN } from './tables.ts';

/** The hour of a record. */
export const HOUR_EXPRESSION = `date_trunc('hour', ${TIME_COLUMN})`;

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
