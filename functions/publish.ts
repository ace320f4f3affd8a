import { functionDependencies } from '../lib/handlers/function-dependencies.ts';
import { publicationHandler } from '../lib/handlers/publication-handler.ts';

export const handler = publicationHandler(functionDependencies(process.env));
