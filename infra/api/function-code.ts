import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { SetupFault } from '../setup-fault.ts';

/** Where a function's code comes from. */
export type FunctionCode = (functionName: string) => Code;

/** The bundle of a function, as `npm run bundle` leaves it. */
export const bundledCode: FunctionCode = (functionName) => {
  const folder = fileURLToPath(new URL(`../../dist/${functionName}`, import.meta.url));
  if (!existsSync(`${folder}/index.mjs`))
    throw new SetupFault(
      `The bundle dist/${functionName}/index.mjs is missing. Run \`npm run bundle\` first.`,
    );
  return Code.fromAsset(folder);
};
