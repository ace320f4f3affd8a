import { Logger } from '@aws-lambda-powertools/logger';
import { stackAnswerer } from '../lib/aws/answer-stack.ts';
import { versionInvoker } from '../lib/aws/invoke-version.ts';
import { secretReader } from '../lib/aws/read-secret.ts';
import { releaseChecker, releaseGate } from '../lib/probe/release-gate.ts';

const check = releaseChecker({
  env: process.env,
  invoke: versionInvoker(),
  fetch,
  readSecret: secretReader(),
  now: Date.now,
});

export const handler = releaseGate({ check, answer: stackAnswerer(fetch), log: new Logger() });
