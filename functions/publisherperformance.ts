import { startReportFunction } from '../lib/http/start-report-function.ts';
import { publisherReport } from '../lib/report/catalogue.ts';

export const handler = startReportFunction(publisherReport);
