import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { readConfig } from '../lib/config.ts';
import { fieldsHandler } from '../lib/handlers/fields-handler.ts';
import { METRIC_NAMESPACE } from '../lib/metric-names.ts';

export const handler = fieldsHandler({
  config: readConfig(process.env),
  log: new Logger(),
  metrics: new Metrics({ namespace: METRIC_NAMESPACE }),
});
