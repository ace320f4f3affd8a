import { callerDependencies } from '../lib/http/admit-caller.ts';
import { daysHandler } from '../lib/http/days-handler.ts';
import { advertiserReport } from '../lib/report/catalogue.ts';

export const handler = daysHandler(advertiserReport, callerDependencies(process.env));
