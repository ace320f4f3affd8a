import { metricsOf, ownerOf, type Report } from '../lib/report/catalogue.ts';

/** The column that holds the company of a record. A restricted caller sees only the rows of certain companies. */
export const companyColumn = (report: Report): string => ownerOf(report).column;

/** The columns that hold counts; the other measures are money. */
export const countColumns = (report: Report): string[] => columnsOf(report, 'integer');

/** The columns that reports sum. Reports group by all other columns. */
export const measureColumns = (report: Report): string[] => columnsOf(report, 'integer', 'float');

const columnsOf = (report: Report, ...types: readonly string[]): string[] =>
  metricsOf(report)
    .filter(({ type }) => types.includes(type))
    .flatMap((metric) =>
      report.levels?.metric === metric ? [report.levels.finerColumn, metric.column] : [metric.column],
    );

/** The columns of a report that counts at two levels. `finer` is NULL on records of the coarser level. */
export const levelColumns = (report: Report) =>
  report.levels && {
    finer: report.levels.finer.column,
    finerCount: report.levels.finerColumn,
    coarserCount: report.levels.metric.column,
    others: metricsOf(report).flatMap((metric) => (metric === report.levels?.metric ? [] : [metric.column])),
  };

export type LevelColumns = NonNullable<ReturnType<typeof levelColumns>>;
