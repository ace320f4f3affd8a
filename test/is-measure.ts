import { measureColumns } from '../lake-check/report-columns.ts';
import { reports } from '../lib/report/catalogue.ts';

const measures = new Set(reports.flatMap(measureColumns));

/** Whether a column holds counts or amounts to be summed. */
export const isMeasure = (column: string): boolean => measures.has(column);
