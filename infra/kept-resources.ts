import { Aws, Duration, Fn, RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type CfnBucket,
  type CorsRule,
  type IBucket,
  type LifecycleRule,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { Stage } from './stage.ts';

/**
 * Eight characters that are unique to this stack: the beginning of the UUID in the stack's id. A stack that is deleted
 * and made again gets other characters.
 */
export const uniquePart = (): string =>
  Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Aws.STACK_ID))));

/**
 * The resource is kept when its stack is deleted. It is deleted when the deployment that made it is rolled back,
 * because it is still empty then (CloudFormation User Guide, "DeletionPolicy attribute", RetainExceptOnCreate).
 */
export const RETAIN_EXCEPT_ON_CREATE = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;

/** The settings of a log. It outlives a stage that keeps its data, because it says who pulled what. */
export const logSettings = ({ logDays, keepData }: Pick<Stage, 'logDays' | 'keepData'>) => ({
  retention: logDays,
  removalPolicy: keepData ? RETAIN_EXCEPT_ON_CREATE : RemovalPolicy.DESTROY,
});

export type LogSettings = ReturnType<typeof logSettings>;

export interface PrivateBucketProps {
  /** Whether the bucket stays when its stack is deleted. If not, it must be empty before the stack can be deleted. */
  readonly keepData: boolean;
  readonly versioned?: boolean;
  /** Whether EventBridge is notified of every new object. */
  readonly tellsEventBridge?: boolean;
  readonly lifecycleRules: readonly LifecycleRule[];
  /** Which origins' pages may read the bucket's answers. Each request still needs the right to read its object. */
  readonly cors?: readonly CorsRule[];
}

/**
 * Makes a bucket that nobody outside the account can reach. It accepts TLS only, and is encrypted with S3's own keys.
 */
export function makePrivateBucket(
  scope: Construct,
  id: string,
  { keepData, versioned = false, tellsEventBridge = false, lifecycleRules, cors = [] }: PrivateBucketProps,
): IBucket {
  const bucket = new Bucket(scope, id, {
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
    ...(cors.length > 0 && { cors: [...cors] }),
    removalPolicy: keepData ? RETAIN_EXCEPT_ON_CREATE : RemovalPolicy.DESTROY,
  });
  if (tellsEventBridge) {
    // CDK's own switch adds a function and a role only to set this property, which CloudFormation can set by itself.
    (bucket.node.defaultChild as CfnBucket).notificationConfiguration = {
      eventBridgeConfiguration: { eventBridgeEnabled: true },
    };
  }
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason:
      "Server access logs hold whole request URIs, and so presigned URLs' signatures. CloudTrail's data events say who read what without them; whether to pay for those is the operator's choice.",
  });
  // With TypeScript's `exactOptionalPropertyTypes`, CDK's class does not fit its own interface.
  return bucket as IBucket;
}
