import { tokenVerifier } from '../lib/access/verify-token.ts';
import { daysHandler } from '../lib/http/days-handler.ts';
import { functionDependencies } from '../lib/http/function-dependencies.ts';
import { advertiserReport } from '../lib/report/catalogue.ts';

const dependencies = functionDependencies(process.env);

export const handler = daysHandler(advertiserReport, {
  ...dependencies,
  verifyToken: tokenVerifier(dependencies.config.token),
});
