import { Logger } from '@aws-lambda-powertools/logger';
import { secretReader, stackAnswerer, versionInvoker } from '../lib/aws/release-calls.ts';
import { releaseChecker, releaseGate } from '../lib/probe/release-gate.ts';

const check = releaseChecker({
  env: process.env,
  invoke: versionInvoker(),
  fetch,
  readSecret: secretReader(),
  now: Date.now,
});

export const handler = releaseGate({ check, answer: stackAnswerer(fetch), log: new Logger() });
