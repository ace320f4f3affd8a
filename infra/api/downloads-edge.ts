import { Duration, Validations } from 'aws-cdk-lib';
import {
  AllowedMethods,
  CacheCookieBehavior,
  CacheHeaderBehavior,
  CachePolicy,
  CacheQueryStringBehavior,
  Distribution,
  type IDistribution,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { DOWNLOADS_EDGE, EDGE_ERRORS } from '../../lib/downloads-edge.ts';
import type { ResourceNames } from '../resource-names.ts';

const { key, ttlSeconds, errorTtlSeconds, compresses } = DOWNLOADS_EDGE;

/**
 * Makes the distribution in front of the results bucket, with the settings of `lib/downloads-edge.ts`. It has no right
 * of its own to the bucket: only a presigned URL's query gives access. It keeps no log, because the query is a secret.
 */
export function makeDownloadsEdge(
  scope: Construct,
  id: string,
  names: ResourceNames,
  resultsBucket: IBucket,
): IDistribution {
  const cachePolicy = new CachePolicy(scope, `${id}CachePolicy`, {
    // No name is set: a policy's name is unique in the account over all regions, and CDK's default name contains the
    // region.
    comment: `${names.service}: presigned URLs, as they are`,
    queryStringBehavior:
      key.query === 'all' ? CacheQueryStringBehavior.all() : CacheQueryStringBehavior.none(),
    headerBehavior: CacheHeaderBehavior.allowList(...key.headers),
    cookieBehavior: CacheCookieBehavior.none(),
    minTtl: Duration.seconds(ttlSeconds.minimum),
    defaultTtl: Duration.seconds(ttlSeconds.default),
    maxTtl: Duration.seconds(ttlSeconds.maximum),
    enableAcceptEncodingGzip: compresses,
    enableAcceptEncodingBrotli: compresses,
  });
  const distribution = new Distribution(scope, id, {
    comment: `${names.service}: downloads`,
    defaultBehavior: {
      // The origin is a bucket, not a custom host: CloudFront adds a header x-amz-cf-id, and with a custom origin S3
      // wants it to be signed. There is no origin access control, because it would add a second signature to the one in
      // the query.
      origin: S3BucketOrigin.withBucketDefaults(resultsBucket),
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD_OPTIONS,
      cachePolicy,
      compress: compresses,
    },
    errorResponses: EDGE_ERRORS.map((httpStatus) => ({
      httpStatus,
      ttl: Duration.seconds(errorTtlSeconds),
    })),
  });
  for (const [rule, reason] of [
    ['AwsSolutions-CFR1', 'Partners pull from any country.'],
    [
      'AwsSolutions-CFR2',
      'It opens nothing without a signature that the API has given out, behind its own firewall.',
    ],
    ['AwsSolutions-CFR3', 'The query of a request is the right to download, and must be in no log.'],
    [
      'AwsSolutions-CFR4',
      "CloudFront's own certificate takes no other setting; clients choose the best TLS that both know.",
    ],
    ['AwsSolutions-CFR7', 'An origin access control would add a second signature, which S3 refuses.'],
  ] as const)
    Validations.of(distribution).acknowledge({ id: rule, reason });
  return distribution;
}
