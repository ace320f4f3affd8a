import { Duration } from 'aws-cdk-lib';
import { HttpMethods, type IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { DOWNLOAD_CORS, RESULTS_PREFIX } from '../../lib/names.ts';
import { makePrivateBucket } from './private-bucket.ts';

/** All that is in the bucket can be made again from the events, and nothing in it is asked for after so long. */
const KEPT_DAYS = 7;

/** Makes the bucket of query results and reports. All that it holds expires, prefix by prefix. */
export const makeResultsBucket = (scope: Construct, id: string, keepData: boolean): IBucket =>
  makePrivateBucket(scope, id, {
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
      expiration: Duration.days(KEPT_DAYS),
    })),
  });
