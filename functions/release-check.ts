import { Logger } from '@aws-lambda-powertools/logger';
import { versionInvoker } from '../lib/aws/invoke-version.ts';
import { secretReader } from '../lib/aws/read-secret.ts';
import { deploymentTeller } from '../lib/aws/tell-deployment.ts';
import { releaseCheckHandler } from '../lib/handlers/release-check-handler.ts';
import { fetchFromVersions } from '../lib/probe/fetch-from-versions.ts';
import { readProbeConfig, readVersions } from '../lib/probe/probe-config.ts';
import { reportPuller } from '../lib/probe/pull-report.ts';

const config = readProbeConfig(process.env);

export const handler = releaseCheckHandler({
  pull: reportPuller({
    config,
    fetch: fetchFromVersions({
      serviceUrl: config.serviceUrl,
      versions: readVersions(process.env),
      invoke: versionInvoker(),
      fetch,
    }),
    readSecret: secretReader(),
    now: Date.now,
  }),
  tell: deploymentTeller(),
  log: new Logger(),
});
