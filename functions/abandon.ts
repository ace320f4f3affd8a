import { functionDependencies } from '../lib/http/function-dependencies.ts';
import { abandonmentHandler } from '../lib/http/publication-handler.ts';

export const handler = abandonmentHandler(functionDependencies(process.env));
