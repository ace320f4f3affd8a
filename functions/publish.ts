import { functionParts } from '../lib/handlers/function-parts.ts';
import { publicationHandler } from '../lib/handlers/publication-handler.ts';

export const handler = publicationHandler(functionParts(process.env));
