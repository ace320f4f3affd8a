import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { secretReader } from '../lib/aws/release-calls.ts';
import { METRIC_NAMESPACE } from '../lib/names.ts';
import {
  lateDayFinder,
  probeHandler,
  readProbeConfig,
  reportPuller,
  tokenSource,
} from '../lib/probe/pull-report.ts';

const config = readProbeConfig(process.env);
const parts = { config, fetch, readSecret: secretReader(), now: Date.now };
const tokens = tokenSource(parts);
const { finalAfterHours } = config;

export const handler = probeHandler({
  pull: reportPuller(parts, tokens),
  isLate: finalAfterHours === undefined ? undefined : lateDayFinder(parts, finalAfterHours, tokens),
  log: new Logger(),
  metrics: new Metrics({ namespace: METRIC_NAMESPACE }),
});
