import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';

/** Finds a function's code by the function's name. */
export type FunctionCode = (functionName: string) => Code;

/** A release: the code of its functions, and its name (`infra/release-name.ts`). */
export interface Release {
  readonly code: FunctionCode;
  readonly name: string;
}

/** Takes the bundles from a folder that `bundleFunctions` has written. */
export const bundlesIn =
  (folder: string): FunctionCode =>
  (functionName) =>
    Code.fromAsset(join(folder, functionName));
