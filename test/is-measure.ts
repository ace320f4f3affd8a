import { reports } from '../lib/report/catalogue.ts';
import { measureColumns } from '../local/lake/report-columns.ts';

const measures = new Set(reports.flatMap(measureColumns));

/** Whether a column holds counts or amounts to be summed, rather than something to group by. */
export const isMeasure = (column: string): boolean => measures.has(column);
