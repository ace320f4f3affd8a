import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';

/** Where a function's code comes from. */
export type FunctionCode = (functionName: string) => Code;

/** What is deployed. */
export interface Release {
  readonly code: FunctionCode;
  readonly commit: string;
}

/** The bundles of a folder, as `bundleFunctions` leaves them. */
export const bundlesIn =
  (folder: string): FunctionCode =>
  (functionName) =>
    Code.fromAsset(join(folder, functionName));
