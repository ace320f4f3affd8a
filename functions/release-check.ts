import { Logger } from '@aws-lambda-powertools/logger';
import { secretReader } from '../lib/aws/read-secret.ts';
import { deploymentTeller, versionInvoker } from '../lib/aws/release-check-calls.ts';
import { askEach, fetchFromVersions } from '../lib/probe/fetch-from-versions.ts';
import { releaseCheckHandler } from '../lib/probe/probe-handlers.ts';
import { readProbeConfig, readReleaseConfig, reportPuller } from '../lib/probe/pull-report.ts';

const config = readProbeConfig(process.env);
const { commit, versions, secondsLate } = readReleaseConfig(process.env);
const service = { serviceUrl: config.serviceUrl, versions, invoke: versionInvoker() };

const pull = reportPuller({
  config,
  fetch: fetchFromVersions({ ...service, fetch }),
  readSecret: secretReader(),
  now: Date.now,
  secondsLate,
});

export const handler = releaseCheckHandler({
  pull: () => askEach(service, commit).then(pull),
  tell: deploymentTeller(),
  log: new Logger(),
});
