import { Aws, Fn, RemovalPolicy } from 'aws-cdk-lib';
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
