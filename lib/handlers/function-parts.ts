import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { makeClients } from '../aws/clients.ts';
import { queryService } from '../aws/query-execution.ts';
import { resultsBucket } from '../aws/results-bucket.ts';
import { type Config, readConfig } from '../config.ts';
import type { DeliveryParts } from '../delivery/deliver-report.ts';
import { METRIC_NAMESPACE } from '../metric-names.ts';
import type { LineLog } from './request-log.ts';
import type { MetricSink } from './request-metrics.ts';

/** What every function is made of. */
export interface FunctionParts extends DeliveryParts {
  readonly config: Config;
  readonly log: LineLog;
  readonly metrics: MetricSink;
}

/** Reads the configuration and makes the clients: once, when a function starts. */
export function functionParts(env: Readonly<Record<string, string | undefined>>): FunctionParts {
  const config = readConfig(env);
  const { athena, s3 } = makeClients();
  return {
    config,
    queries: queryService(athena, { database: config.athenaDatabase, workgroup: config.athenaWorkgroup }),
    results: resultsBucket(s3, config.resultsBucket),
    log: new Logger({ persistentKeys: { commit: config.commit } }),
    metrics: new Metrics({ namespace: METRIC_NAMESPACE }),
  };
}
