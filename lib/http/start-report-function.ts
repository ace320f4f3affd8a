import { Logger } from '@aws-lambda-powertools/logger';
import { readConfig } from '../config.ts';
import { makeClients } from '../delivery/clients.ts';
import type { Report } from '../report/catalogue.ts';
import { tokenVerifier } from '../token/verify-token.ts';
import { reportHandler } from './report-handler.ts';

/** What a report's function does when it starts: reads its configuration, makes its clients, wires its handler. */
export function startReportFunction(report: Report) {
  const config = readConfig(process.env);
  return reportHandler(report, {
    config,
    clients: makeClients(),
    verifyToken: tokenVerifier(config.token),
    log: new Logger(),
  });
}
