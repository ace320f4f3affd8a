import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { Register } from '../access/partner-record.ts';
import { athenaQueries } from '../aws/athena-queries.ts';
import { makeClients } from '../aws/clients.ts';
import { s3ResultsBucket } from '../aws/results-bucket.ts';
import { type ListingCache, s3Lake } from '../aws/s3-lake.ts';
import { type RecordCache, s3Register } from '../aws/s3-register.ts';
import { type Config, readConfig } from '../config.ts';
import type { DeliveryBackends } from '../delivery/delivery.ts';
import { METRIC_NAMESPACE } from '../names.ts';
import type { LineLog, LoggedFacts, MetricSink } from './request-log.ts';

/** Made once, when a function starts. */
export interface FunctionDependencies {
  readonly config: Config;
  readonly log: LineLog;
  readonly metrics: MetricSink;
  /** The services behind a request. Every call to them ends by `until`, in milliseconds since 1970. */
  readonly backendsUntil: (
    until: number,
    facts?: LoggedFacts,
  ) => DeliveryBackends & { readonly register: Register };
}

export function functionDependencies(env: NodeJS.ProcessEnv): FunctionDependencies {
  const config = readConfig(env);
  const { athena, s3 } = makeClients();
  const log = new Logger({ persistentKeys: { commit: config.commit } });
  const names = { database: config.athenaDatabase, workgroup: config.athenaWorkgroup };
  const cache: ListingCache = new Map();
  const records: RecordCache = new Map();
  const partnersBucket = config.entitlements.by === 'partners' ? config.entitlements.bucket : undefined;
  let isUnavailableLogged = false;
  const onListingUnavailable = (error: unknown) => {
    if (!isUnavailableLogged)
      log.warn('The lake can not be listed, so every report is queried anew.', { error: error as Error });
    isUnavailableLogged = true;
  };
  return {
    config,
    log,
    metrics: new Metrics({ namespace: METRIC_NAMESPACE }),
    backendsUntil: (until, facts = {}) => ({
      queries: athenaQueries(athena, names, until, () => {
        facts.throttledStarts = (facts.throttledStarts ?? 0) + 1;
      }),
      results: s3ResultsBucket(s3, config.resultsBucket, until, config.linkOrigin),
      lake: s3Lake(s3, config.lake, { until, cache, onListingUnavailable }),
      register: s3Register(s3, partnersBucket, { until, cache: records }),
    }),
  };
}
