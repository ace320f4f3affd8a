import { callerDependencies } from '../lib/http/admit-caller.ts';
import { reportHandler } from '../lib/http/report-handler.ts';
import { publisherReport } from '../lib/report/catalogue.ts';

export const handler = reportHandler(publisherReport, callerDependencies(process.env));
