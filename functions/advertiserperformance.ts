import { startReportFunction } from '../lib/http/start-report-function.ts';
import { advertiserReport } from '../lib/report/catalogue.ts';

export const handler = startReportFunction(advertiserReport);
