import { type Metric, type Report, reports } from '../../lib/report/catalogue.ts';

export const metricsOf = ({ fields }: Report): Metric[] =>
  Object.values(fields).filter((field): field is Metric => field.role === 'metric');

const measures = new Set(
  reports
    .flatMap(metricsOf)
    .flatMap(({ column, levels }) => (levels ? [levels.finerColumn, column] : [column])),
);

/** Whether a column holds counts or amounts to be summed, rather than something to group by. */
export const isMeasure = (column: string): boolean => measures.has(column);
