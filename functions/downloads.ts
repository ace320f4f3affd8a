import { downloadsHandler } from '../lib/http/downloads-handler.ts';
import { functionParts } from '../lib/http/function-parts.ts';

export const handler = downloadsHandler(functionParts(process.env));
