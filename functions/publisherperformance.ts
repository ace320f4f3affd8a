import { functionParts } from '../lib/handlers/function-parts.ts';
import { reportHandler } from '../lib/handlers/report-handler.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { tokenVerifier } from '../lib/token/verify-token.ts';

const parts = functionParts(process.env);

export const handler = reportHandler(publisherReport, {
  ...parts,
  verifyToken: tokenVerifier(parts.config.token),
});
