import { publicationHandler } from '../lib/delivery/publication-handler.ts';
import { functionParts } from '../lib/http/function-parts.ts';

export const handler = publicationHandler(functionParts(process.env));
