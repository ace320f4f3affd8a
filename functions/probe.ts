import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { secretReader } from '../lib/aws/read-secret.ts';
import { METRIC_NAMESPACE } from '../lib/names.ts';
import { probeHandler, readProbeConfig, reportPuller } from '../lib/probe/pull-report.ts';

export const handler = probeHandler({
  pull: reportPuller({
    config: readProbeConfig(process.env),
    fetch,
    readSecret: secretReader(),
    now: Date.now,
  }),
  log: new Logger(),
  metrics: new Metrics({ namespace: METRIC_NAMESPACE }),
});
