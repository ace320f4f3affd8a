import { tokenVerifier } from '../lib/access/verify-token.ts';
import { daysHandler } from '../lib/http/days-handler.ts';
import { functionDependencies } from '../lib/http/function-dependencies.ts';
import { publisherReport } from '../lib/report/catalogue.ts';

const dependencies = functionDependencies(process.env);

export const handler = daysHandler(publisherReport, {
  ...dependencies,
  verifyToken: tokenVerifier(dependencies.config.token),
});
