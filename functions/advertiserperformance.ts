import { tokenVerifier } from '../lib/access/verify-token.ts';
import { functionDependencies } from '../lib/http/function-dependencies.ts';
import { reportHandler } from '../lib/http/report-handler.ts';
import { advertiserReport } from '../lib/report/catalogue.ts';

const dependencies = functionDependencies(process.env);

export const handler = reportHandler(advertiserReport, {
  ...dependencies,
  verifyToken: tokenVerifier(dependencies.config.token),
});
