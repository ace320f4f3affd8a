import { daysHandler } from '../lib/handlers/days-handler.ts';
import { functionDependencies } from '../lib/handlers/function-dependencies.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { tokenVerifier } from '../lib/token/verify-token.ts';

const dependencies = functionDependencies(process.env);

export const handler = daysHandler(publisherReport, {
  ...dependencies,
  verifyToken: tokenVerifier(dependencies.config.token),
});
