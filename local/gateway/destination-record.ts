import { FunctionFailed } from './lambda-sandbox.ts';

/** The record that Lambda sends to an on-failure destination if the last try of an event fails. */
export const destinationRecord = ({
  name,
  requestId,
  event,
  failure,
  tries,
}: {
  readonly name: string;
  readonly requestId: string;
  readonly event: unknown;
  readonly failure: unknown;
  readonly tries: number;
}): object => ({
  version: '1.0',
  timestamp: new Date().toISOString(),
  requestContext: {
    requestId,
    functionArn: `${functionArn(name)}:$LATEST`,
    condition: 'RetriesExhausted',
    approximateInvokeCount: tries,
  },
  requestPayload: event,
  responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
  responsePayload: {
    errorType: failure instanceof FunctionFailed && failure.timedOut ? 'Sandbox.Timedout' : 'Error',
    errorMessage: failure instanceof Error ? failure.message : String(failure),
  },
});

/** The stand-in for a function's ARN on this machine. */
export const functionArn = (name: string): string => `arn:aws:lambda:local:000000000000:function:${name}`;
