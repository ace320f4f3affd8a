import { daysHandler } from '../lib/handlers/days-handler.ts';
import { functionParts } from '../lib/handlers/function-parts.ts';
import { advertiserReport } from '../lib/report/catalogue.ts';
import { tokenVerifier } from '../lib/token/verify-token.ts';

const parts = functionParts(process.env);

export const handler = daysHandler(advertiserReport, {
  ...parts,
  verifyToken: tokenVerifier(parts.config.token),
});
