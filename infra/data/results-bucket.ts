import { Duration } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { REPORT_KEPT_DAYS, RESULTS_PREFIX } from '../../lib/names.ts';
import { makePrivateBucket } from './private-bucket.ts';

/** Makes the bucket of query results and reports. All that it holds expires, prefix by prefix. */
export const makeResultsBucket = (scope: Construct, id: string, keepData: boolean): IBucket =>
  makePrivateBucket(scope, id, {
    keepData,
    tellsEventBridge: true,
    lifecycleRules: Object.entries(RESULTS_PREFIX).map(([name, prefix]) => ({
      id: `expire-${name}`,
      prefix,
      expiration: Duration.days(REPORT_KEPT_DAYS),
    })),
  });
