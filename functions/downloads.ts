import { downloadsHandler } from '../lib/handlers/downloads-handler.ts';
import { functionDependencies } from '../lib/handlers/function-dependencies.ts';

/** The waiting room of reports that take longer than one request. */
export const handler = downloadsHandler(functionDependencies(process.env));
