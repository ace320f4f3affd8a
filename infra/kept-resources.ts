import { Aws, Fn, RemovalPolicy } from 'aws-cdk-lib';

/** Eight characters that no other stack has, nor this one when it is made again: the beginning of the UUID in its id. */
export const uniquePart = (): string =>
  Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Aws.STACK_ID))));

/**
 * Kept when its stack is deleted, but not when the deployment that made it is rolled back: it is empty then, and would
 * only be left behind (CloudFormation User Guide, "DeletionPolicy attribute", RetainExceptOnCreate).
 */
export const RETAIN_EXCEPT_ON_CREATE = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
