import { callerDependencies } from '../lib/http/admit-caller.ts';
import { daysHandler } from '../lib/http/days-handler.ts';
import { publisherReport } from '../lib/report/catalogue.ts';

export const handler = daysHandler(publisherReport, callerDependencies(process.env));
