import type { Metric, Report } from '../../lib/report/catalogue.ts';
import { metricsOf } from '../events/measures.ts';

/** The column of the companies whose rows a restricted caller sees. */
export function companyColumn(report: Report): string {
  const field = report.fields[report.governedBy];
  if (!field || field.type === 'datetime') throw new TypeError(`${report.name} has no column of companies`);
  return field.column;
}

/** The columns that hold counts; the other measures are money. */
export const countColumns = (report: Report): string[] =>
  metricsOf(report)
    .filter(({ type }) => type === 'integer')
    .flatMap(({ column, levels }) => (levels ? [levels.finerColumn, column] : [column]));

/** The columns of everything that is summed. */
export const measureColumns = (report: Report): string[] =>
  metricsOf(report).flatMap(({ column, levels }) => (levels ? [levels.finerColumn, column] : [column]));

/** How a report counts at two levels, in columns; undefined where it doesn't. */
export interface LevelColumns {
  /** NULL on records of the coarser level. */
  readonly finer: string;
  readonly finerCount: string;
  readonly coarserCount: string;
  /** What else is summed, on records of either level. */
  readonly others: readonly string[];
}

export function levelColumns(report: Report): LevelColumns | undefined {
  const metrics = metricsOf(report);
  const leveled = metrics.find(
    (metric): metric is Metric & Required<Pick<Metric, 'levels'>> => !!metric.levels,
  );
  const finer = leveled && report.fields[leveled.levels.finer];
  if (!finer || !('column' in finer)) return undefined;
  return {
    finer: finer.column,
    finerCount: leveled.levels.finerColumn,
    coarserCount: leveled.column,
    others: metrics.filter((metric) => metric !== leveled).map(({ column }) => column),
  };
}
