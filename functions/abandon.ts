import { abandonmentHandler } from '../lib/handlers/abandonment-handler.ts';
import { functionParts } from '../lib/handlers/function-parts.ts';

export const handler = abandonmentHandler(functionParts(process.env));
