import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { destinationRecord } from './destination-record.ts';
import type { Sandbox } from './lambda-sandbox.ts';
import { failureLine, type Log, toStderr } from './log.ts';

/** A function's queue of events. Nobody waits for their outcome. */
export interface EventQueue {
  send(event: unknown): void;
  /** Forgets the events that wait for another try. */
  close(): void;
}

/**
 * Runs a function for each event as Lambda invokes it asynchronously: an event that fails, crashes or times out is run
 * again after a pause; one whose last try fails goes to the on-failure destination.
 */
export function eventQueue(options: {
  readonly name: string;
  readonly sandbox: Pick<Sandbox, 'invoke'>;
  /** A pause for each further try. */
  readonly retryPausesMs: readonly number[];
  readonly onFailure?: (record: object) => void;
  readonly log?: Log | undefined;
}): EventQueue {
  const { name, sandbox, retryPausesMs, onFailure, log = toStderr } = options;
  const closed = new AbortController();

  const run = async (event: unknown): Promise<void> => {
    // Lambda keeps the request id over all tries.
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
    onFailure?.(destinationRecord({ name, requestId, event, failure, tries: retryPausesMs.length + 1 }));
  };

  return {
    send: (event) =>
      void run(event).catch((error) => {
        if (!closed.signal.aborted) throw error;
      }),
    close: () => closed.abort(),
  };
}
