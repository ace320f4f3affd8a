import { tokenVerifier } from '../lib/access/verify-token.ts';
import { functionDependencies } from '../lib/http/function-dependencies.ts';
import { reportHandler } from '../lib/http/report-handler.ts';
import { publisherReport } from '../lib/report/catalogue.ts';

const dependencies = functionDependencies(process.env);

export const handler = reportHandler(publisherReport, {
  ...dependencies,
  verifyToken: tokenVerifier(dependencies.config.token),
});
