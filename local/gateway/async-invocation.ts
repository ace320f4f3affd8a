import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  FunctionFailed,
  failureLine,
  functionArn,
  type Log,
  type Sandbox,
  toStderr,
} from './lambda-sandbox.ts';

/** A function's queue of events. Nobody waits for the outcome of an event. */
export interface EventQueue {
  send(event: unknown): void;
  /** Forgets the events that wait for another try. */
  close(): void;
}

/**
 * Runs a function for each event, as Lambda does for asynchronous invocations. If the function fails, crashes or times
 * out, the event is tried again after a pause. If the last try fails, the event goes to the on-failure destination.
 */
export function eventQueue(options: {
  readonly name: string;
  readonly sandbox: Pick<Sandbox, 'invoke'>;
  /** The pauses before the further tries, in order. */
  readonly retryPausesMs: readonly number[];
  /** Receives the record that Lambda sends to an on-failure destination if the last try of an event fails. */
  readonly onFailure?: ((record: object) => void) | undefined;
  readonly log?: Log | undefined;
}): EventQueue {
  const { name, sandbox, retryPausesMs, onFailure, log = toStderr } = options;
  const closed = new AbortController();

  const run = async (event: unknown): Promise<void> => {
    // Lambda uses the same request id for all tries of an event.
    const requestId = randomUUID();
    let failure: unknown;
    for (const pauseMs of [0, ...retryPausesMs]) {
      await delay(pauseMs, undefined, { signal: closed.signal, ref: false });
      try {
        await sandbox.invoke(event, requestId);
        return;
      } catch (error) {
        closed.signal.throwIfAborted();
        failure = error;
        log(failureLine(name, error));
      }
    }
    onFailure?.({
      version: '1.0',
      timestamp: new Date().toISOString(),
      requestContext: {
        requestId,
        functionArn: `${functionArn(name)}:$LATEST`,
        condition: 'RetriesExhausted',
        approximateInvokeCount: retryPausesMs.length + 1,
      },
      requestPayload: event,
      responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
      responsePayload: {
        errorType: failure instanceof FunctionFailed && failure.timedOut ? 'Sandbox.Timedout' : 'Error',
        errorMessage: failure instanceof Error ? failure.message : String(failure),
      },
    });
  };

  return {
    send: (event) =>
      void run(event).catch((error) => {
        if (!closed.signal.aborted) throw error;
      }),
    close: () => closed.abort(),
  };
}

/** EventBridge's event for an object that was created in S3. */
export const objectCreatedEvent = ({ bucket, key }: { readonly bucket: string; readonly key: string }) => ({
  version: '0',
  id: randomUUID(),
  'detail-type': 'Object Created',
  source: 'aws.s3',
  account: '000000000000',
  time: new Date().toISOString(),
  region: 'local',
  resources: [`arn:aws:s3:::${bucket}`],
  detail: { version: '0', bucket: { name: bucket }, object: { key } },
});
