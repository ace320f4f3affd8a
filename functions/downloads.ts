import { downloadsHandler } from '../lib/http/downloads-handler.ts';
import { functionDependencies } from '../lib/http/function-dependencies.ts';

/** The waiting room of reports that take longer than one request. */
export const handler = downloadsHandler(functionDependencies(process.env));
