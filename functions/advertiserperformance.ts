import { callerDependencies } from '../lib/http/admit-caller.ts';
import { reportHandler } from '../lib/http/report-handler.ts';
import { advertiserReport } from '../lib/report/catalogue.ts';

export const handler = reportHandler(advertiserReport, callerDependencies(process.env));
