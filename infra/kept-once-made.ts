import { RemovalPolicy } from 'aws-cdk-lib';

/**
 * Kept when its stack is deleted, but not when the deployment that made it is rolled back: it is empty then, and would
 * only be left behind (CloudFormation User Guide, "DeletionPolicy attribute", RetainExceptOnCreate).
 */
export const KEPT_ONCE_MADE = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
