import { abandonmentHandler } from '../lib/handlers/abandonment-handler.ts';
import { functionDependencies } from '../lib/handlers/function-dependencies.ts';

export const handler = abandonmentHandler(functionDependencies(process.env));
