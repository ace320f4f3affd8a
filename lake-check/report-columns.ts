import { metricsOf, ownerOf, type Report } from '../lib/report/catalogue.ts';

/** The column of the companies whose rows a restricted caller sees. */
export const companyColumn = (report: Report): string => ownerOf(report).column;

/** The columns that hold counts; the other measures are money. */
export const countColumns = (report: Report): string[] => columnsOf(report, 'integer');

/** The columns of everything that is summed; all others are grouped by. */
export const measureColumns = (report: Report): string[] => columnsOf(report, 'integer', 'float');

const columnsOf = (report: Report, ...types: readonly string[]): string[] =>
  metricsOf(report)
    .filter(({ type }) => types.includes(type))
    .flatMap((metric) =>
      report.levels?.metric === metric ? [report.levels.finerColumn, metric.column] : [metric.column],
    );

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
  const { levels } = report;
  return (
    levels && {
      finer: levels.finer.column,
      finerCount: levels.finerColumn,
      coarserCount: levels.metric.column,
      others: metricsOf(report)
        .filter((metric) => metric !== levels.metric)
        .map(({ column }) => column),
    }
  );
}
