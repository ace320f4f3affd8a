import { Logger } from '@aws-lambda-powertools/logger';
import { versionInvoker } from '../lib/aws/invoke-version.ts';
import { secretReader } from '../lib/aws/read-secret.ts';
import { deploymentTeller } from '../lib/aws/tell-deployment.ts';
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
