import { downloadsHandler } from '../lib/handlers/downloads-handler.ts';
import { functionDependencies } from '../lib/handlers/function-dependencies.ts';

export const handler = downloadsHandler(functionDependencies(process.env));
