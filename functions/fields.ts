import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { readConfig } from '../lib/config.ts';
import { METRIC_NAMESPACE } from '../lib/names.ts';
import { fieldsHandler } from '../lib/openapi/public-handlers.ts';

const config = readConfig(process.env);

export const handler = fieldsHandler({
  config,
  log: new Logger({ persistentKeys: { commit: config.commit } }),
  metrics: new Metrics({ namespace: METRIC_NAMESPACE }),
});
