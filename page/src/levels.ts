import { type Field, reports } from '../../lib/report/catalogue.ts';

/** The dimension that a metric is counted by among these fields; undefined where its report counts it at one level. */
export function levelOf(field: Field | undefined, fields: readonly string[]): string | undefined {
  const levels = reports.find((report) => report.levels?.metric === field)?.levels;
  return levels && (fields.includes(levels.finer.name) ? levels.finer.name : levels.coarser.name);
}
