import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { RESULTS_PREFIX } from '../../lib/names.ts';
import { PrivateBucket } from './private-bucket.ts';

/** All in the bucket can be made again from the events. A presigned URL lasts hours, never as long as this. */
const KEPT_DAYS = 7;

/** The bucket of query results and reports. Everything in it expires, prefix by prefix. */
export class ResultsBucket extends PrivateBucket {
  constructor(scope: Construct, id: string, { keepData }: { readonly keepData: boolean }) {
    super(scope, id, {
      keepData,
      lifecycleRules: Object.entries(RESULTS_PREFIX).map(([name, prefix]) => ({
        id: `expire-${name}`,
        prefix,
        expiration: Duration.days(KEPT_DAYS),
      })),
    });
  }
}
