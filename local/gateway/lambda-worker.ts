/** The inside of one Lambda execution environment: a thread with its own `process.env` and modules. */
import { enableCompileCache } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { functionArn, type Invocation, type Outcome } from './lambda.ts';

// A thread spends most of its start on reading the SDK's sources. With this cache, all functions share the result.
enableCompileCache();
const { handler } = await import(workerData.entry);

parentPort?.on('message', async ({ id, requestId, event, deadline }: Invocation) => {
  const context = {
    awsRequestId: requestId,
    functionName: workerData.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: functionArn(workerData.functionName),
    memoryLimitInMB: '1024',
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
  const outcome: Outcome = await Promise.resolve()
    .then(() => handler(event, context))
    .then(
      (result) => ({ id, result }),
      (error) => ({ id, error: String(error?.stack ?? error) }),
    );
  parentPort?.postMessage(outcome);
});
parentPort?.postMessage('ready');
