import { functionDependencies } from '../lib/handlers/function-dependencies.ts';
import { reportHandler } from '../lib/handlers/report-handler.ts';
import { advertiserReport } from '../lib/report/catalogue.ts';
import { tokenVerifier } from '../lib/token/verify-token.ts';

const dependencies = functionDependencies(process.env);

export const handler = reportHandler(advertiserReport, {
  ...dependencies,
  verifyToken: tokenVerifier(dependencies.config.token),
});
