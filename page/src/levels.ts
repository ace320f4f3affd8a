import { type Field, type Report, reports } from '../../lib/report/catalogue.ts';
import type { Choice } from './question/choice.ts';

/**
 * The dimension that a metric is counted by if these fields are requested; undefined if the report counts the metric at
 * only one level.
 */
export function levelOf(field: Field | undefined, fields: readonly string[]): string | undefined {
  const levels = reports.find((report) => report.levels?.metric === field)?.levels;
  return levels && (fields.includes(levels.finer.name) ? levels.finer.name : levels.coarser.name);
}

/**
 * A sentence for a report that is filtered by the finer level but counts a metric at the coarser one
 * (docs/contract.md#opens); undefined for other reports.
 */
export function levelNote({ levels }: Report, { fields, filters }: Choice): string | undefined {
  if (!levels || !fields.includes(levels.metric.name) || fields.includes(levels.finer.name)) return undefined;
  if (!filters.some(({ field }) => field === levels.finer.name)) return undefined;
  const [metric, finer, coarser] = [levels.metric.name, levels.finer.name, levels.coarser.name];
  return (
    `${metric} are those of each whole ${coarser} that holds one of the filter's ${finer}, not of these alone. ` +
    `Add ${finer} to the fields for their own ${metric}.`
  );
}
