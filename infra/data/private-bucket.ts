import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type LifecycleRule,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

export interface PrivateBucketProps {
  /** Whether the bucket outlives its stack. A bucket that does not must still be emptied by hand first. */
  readonly keepData: boolean;
  readonly versioned?: boolean;
  readonly lifecycleRules: readonly LifecycleRule[];
}

/** A bucket that nobody outside the account can reach, over TLS alone, encrypted with S3's own keys. */
export class PrivateBucket extends Bucket {
  constructor(scope: Construct, id: string, { keepData, versioned = false, lifecycleRules }: PrivateBucketProps) {
    super(scope, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      versioned,
      lifecycleRules: [
        ...lifecycleRules,
        { id: 'unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-S1',
      reason:
        'Server access logs hold request URIs, and so the signatures of presigned URLs. CloudTrail data events say who read what without them; whether to pay for those is for the operator to decide.',
    });
  }
}
