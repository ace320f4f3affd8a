import { Duration } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { makePrivateBucket } from './private-bucket.ts';

/** How long a record that was changed can be brought back. */
const UNDO_DAYS = 90;

/** Makes the bucket of the register of partners: a small record per client, written by `npm run partner`. */
export const makePartnersBucket = (scope: Construct, id: string, keepData: boolean): IBucket =>
  makePrivateBucket(scope, id, {
    keepData,
    versioned: true,
    lifecycleRules: [{ id: 'undo', noncurrentVersionExpiration: Duration.days(UNDO_DAYS) }],
  });
