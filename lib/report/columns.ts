import type { Dimension, Field, Metric } from './catalogue.ts';
import type { ReportRequest } from './parse-request.ts';
import { PARTITION_COLUMN, TIME_COLUMN } from './tables.ts';

/** The hour of a record. */
export const HOUR_EXPRESSION = `date_trunc('hour', ${TIME_COLUMN})`;

/** What a dimension's records are grouped by. */
export function rawValue(dimension: Dimension): string {
  if (dimension.type !== 'datetime') return dimension.column;
  return dimension.grain === 'hour' ? HOUR_EXPRESSION : PARTITION_COLUMN;
}

/** Whether a metric is counted at two levels. */
export const isLeveled = (field: Field): field is Metric =>
  field.role === 'metric' && field.levels !== undefined;

/** The requested metric that counts the coarser level while a filter on the finer one holds; if there is one. */
export function coarserMetric({ report, requestedFields, filters }: ReportRequest): Metric | undefined {
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

/** The column of a field that has one: all but hour and day. */
export const columnOf = ({ report }: ReportRequest, name: string): string => {
  const field = report.fields[name];
  if (!field || field.type === 'datetime') throw new TypeError(`${name} has no column of its own`);
  return field.column;
};
