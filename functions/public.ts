import { fileURLToPath } from 'node:url';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { downloadOrigins } from '../lib/aws/results-bucket.ts';
import { readConfig } from '../lib/config.ts';
import { publicHandler, readPageFiles } from '../lib/http/public-handler.ts';
import { METRIC_NAMESPACE } from '../lib/names.ts';

const config = readConfig(process.env);

/** What needs no right: the page, the documents, the descriptions of the service, and every 404. */
export const handler = publicHandler({
  config,
  log: new Logger({ persistentKeys: { commit: config.commit } }),
  metrics: new Metrics({ namespace: METRIC_NAMESPACE }),
  files: readPageFiles(config.pageFiles ?? fileURLToPath(new URL('files', import.meta.url))),
  downloadOrigins: await downloadOrigins(config.resultsBucket, config.downloadsEdgeOrigin),
});
