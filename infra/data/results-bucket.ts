import { Duration } from 'aws-cdk-lib';
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { HttpMethods, type IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { DOWNLOAD_CORS, REPORT_KEPT_DAYS, RESULTS_PREFIX } from '../../lib/names.ts';
import { makePrivateBucket } from '../kept-resources.ts';

/** For objects that matter only while a caller waits. A caller waits an hour and a half at most. */
const WAITING_DAYS = 2;

/**
 * How long each kind of object is kept. S3 deletes expired objects some time later, in any order. So an object may name
 * another one that is already deleted, and the service handles this.
 */
const KEPT_DAYS: Readonly<Record<keyof typeof RESULTS_PREFIX, number>> = {
  athena: REPORT_KEPT_DAYS,
  reports: REPORT_KEPT_DAYS,
  cached: REPORT_KEPT_DAYS,
  jobs: REPORT_KEPT_DAYS,
  waiting: WAITING_DAYS,
  publications: WAITING_DAYS,
  abandoned: WAITING_DAYS,
  slots: WAITING_DAYS,
  orders: REPORT_KEPT_DAYS,
  tickets: WAITING_DAYS,
};

/**
 * Makes the bucket of query results and reports. Every object in it expires, after a time that depends on its prefix.
 */
export function makeResultsBucket(scope: Construct, id: string, keepData: boolean): IBucket {
  const bucket = makePrivateBucket(scope, id, {
    keepData,
    tellsEventBridge: true,
    cors: [
      {
        allowedOrigins: ['*'],
        allowedMethods: DOWNLOAD_CORS.methods.map((method) => HttpMethods[method]),
        allowedHeaders: [...DOWNLOAD_CORS.allowedHeaders],
        exposedHeaders: [...DOWNLOAD_CORS.exposedHeaders],
        maxAge: DOWNLOAD_CORS.maxAgeSeconds,
      },
    ],
    lifecycleRules: Object.entries(RESULTS_PREFIX).map(([name, prefix]) => ({
      id: `expire-${name}`,
      prefix,
      expiration: Duration.days(KEPT_DAYS[name as keyof typeof RESULTS_PREFIX]),
    })),
  });
  // No role may overwrite a report, because somebody may be downloading it. The requests that start a multipart upload
  // and upload its parts can't carry a condition: for them `s3:ObjectCreationOperation` is false (S3 User Guide, "Enforce
  // conditional writes on Amazon S3 buckets", example 1).
  const reportsAreWrittenOnce = new PolicyStatement({
    sid: 'ReportsAreWrittenOnce',
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions: ['s3:PutObject'],
    resources: [bucket.arnForObjects(`${RESULTS_PREFIX.reports}*`)],
    conditions: {
      Null: { 's3:if-none-match': 'true' },
      Bool: { 's3:ObjectCreationOperation': 'true' },
    },
  });
  bucket.addToResourcePolicy(reportsAreWrittenOnce);
  return bucket;
}
