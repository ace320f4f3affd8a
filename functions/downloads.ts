import { downloadsHandler } from '../lib/handlers/downloads-handler.ts';
import { functionParts } from '../lib/handlers/function-parts.ts';

export const handler = downloadsHandler(functionParts(process.env));
