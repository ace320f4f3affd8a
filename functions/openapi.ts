import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { readConfig } from '../lib/config.ts';
import { openApiHandler } from '../lib/handlers/openapi-handler.ts';
import { METRIC_NAMESPACE } from '../lib/metric-names.ts';

export const handler = openApiHandler({
  config: readConfig(process.env),
  log: new Logger(),
  metrics: new Metrics({ namespace: METRIC_NAMESPACE }),
});
