import { Aws, Fn } from 'aws-cdk-lib';

/** Eight characters that no other stack has, nor this one when it is made again: the beginning of the UUID in its id. */
export const uniquePart = (): string =>
  Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Aws.STACK_ID))));
