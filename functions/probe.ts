import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { secretReader } from '../lib/aws/release-calls.ts';
import { METRIC_NAMESPACE } from '../lib/names.ts';
import { probeHandler, readProbeConfig, serviceProbe } from '../lib/probe/pull-report.ts';

const config = readProbeConfig(process.env);
const probe = serviceProbe({ config, fetch, readSecret: secretReader(), now: Date.now });
const { finalAfterHours } = config;

export const handler = probeHandler({
  pull: probe.pull,
  isLate: finalAfterHours === undefined ? undefined : () => probe.isLate(finalAfterHours),
  log: new Logger(),
  metrics: new Metrics({ namespace: METRIC_NAMESPACE }),
});
