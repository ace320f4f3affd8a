import { Logger } from '@aws-lambda-powertools/logger';
import { readConfig } from '../lib/config.ts';
import { openApiHandler } from '../lib/http/openapi-handler.ts';

export const handler = openApiHandler({ config: readConfig(process.env), log: new Logger() });
