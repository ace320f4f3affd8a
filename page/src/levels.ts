import { type Field, reports } from '../../lib/report/catalogue.ts';

/**
 * The dimension that a metric is counted by if these fields are requested; undefined if the report counts the metric at
 * only one level.
 */
export function levelOf(field: Field | undefined, fields: readonly string[]): string | undefined {
  const levels = reports.find((report) => report.levels?.metric === field)?.levels;
  return levels && (fields.includes(levels.finer.name) ? levels.finer.name : levels.coarser.name);
}
