import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { utilizationOf } from './admission.ts';

export interface Invocation {
  readonly id: string;
  /** The request id, which is the same for all tries of one event. */
  readonly requestId: string;
  readonly event: unknown;
  /** The time at which the invocation times out, in milliseconds since 1970. */
  readonly deadline: number;
}

export interface Outcome {
  readonly id: string;
  readonly result?: unknown;
  readonly error?: string;
}

/** The function threw, crashed or timed out. API Gateway answers 504 to a time-out, and 502 otherwise. */
export class FunctionFailed extends Error {
  readonly timedOut: boolean;

  constructor(message: string, timedOut = false) {
    super(message);
    this.timedOut = timedOut;
  }
}

export type Sandbox = ReturnType<typeof createSandbox>;

/** Without this limit, V8 takes up to 100 MB more for each busy thread, and never frees the memory. */
const YOUNG_GENERATION_MB = 16;

/** Runs one function in a thread of its own, which the first invocation starts. It takes invocations concurrently. */
export function createSandbox(spec: {
  readonly name: string;
  /** The module that exports `handler`: a source file or a bundle. */
  readonly entry: URL;
  /** All environment variables of the function. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Receives the function's output. Without it, this process prints the output. */
  readonly log?: Log | undefined;
}) {
  const { name, timeoutMs, log } = spec;
  const waiting = new Map<string, (outcome: Outcome | Error) => void>();
  let thread: Promise<Worker> | undefined;
  let started: Worker | undefined;

  const start = () =>
    new Promise<Worker>((resolve, reject) => {
      const worker = new Worker(new URL('./lambda-worker.ts', import.meta.url), {
        workerData: { entry: spec.entry.href, functionName: name },
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
        env: { ...spec.env, AWS_LAMBDA_FUNCTION_NAME: name },
        stdout: true,
        stderr: true,
      });
      // Not piped: a pipe ends at the first write that fails, and the function would then wait for it.
      for (const output of ['stdout', 'stderr'] as const)
        worker[output].on('data', (text) => (log ? log(`${text}`) : process[output].write(text)));
      worker.on('message', (message: Outcome | 'ready') => {
        if (message === 'ready') {
          started = worker;
          resolve(worker);
        } else waiting.get(message.id)?.(message);
      });
      worker.on('error', reject);
      worker.on('exit', () => {
        thread = undefined;
        started = undefined;
        const ended = new FunctionFailed(`${name} ended`);
        reject(ended);
        for (const settle of waiting.values()) settle(ended);
      });
    });
  return {
    /** Runs the handler on one event. Rejects with a FunctionFailed if that fails. */
    async invoke(event: unknown, requestId: string = randomUUID()): Promise<unknown> {
      thread ??= start();
      const worker = await thread;
      const id = randomUUID();
      const outcome = await new Promise<Outcome | Error>((settle) => {
        const timer = setTimeout(() => settle(new FunctionFailed(`${name} timed out`, true)), timeoutMs);
        waiting.set(id, (outcome) => {
          clearTimeout(timer);
          settle(outcome);
        });
        worker.postMessage({ id, requestId, event, deadline: Date.now() + timeoutMs } satisfies Invocation);
      });
      waiting.delete(id);
      if (outcome instanceof Error) throw outcome;
      if (outcome.error !== undefined) throw new FunctionFailed(outcome.error);
      return outcome.result;
    },
    /** How busy the function's thread is, from 0 to 1. */
    utilization: utilizationOf(() => started?.performance.eventLoopUtilization),
    /** Ends the thread at once, as a crash would. The next invocation starts a new thread. */
    async kill(): Promise<void> {
      await (await thread)?.terminate();
    },
  };
}

/** Receives the output of the functions, and the gateway's and the queues' lines about failed functions. */
export type Log = (text: string) => void;

export const toStderr: Log = (text) => void process.stderr.write(text);

/** The line for a function that failed. */
export const failureLine = (of: string, error: unknown): string =>
  `${of}: ${error instanceof Error ? error.message : error}\n`;

/** The stand-in for a function's ARN on this machine. */
export const functionArn = (name: string): string => `arn:aws:lambda:local:000000000000:function:${name}`;

/** The events that wait for a function. Whoever sent an event gets no answer. */
export type EventQueue = ReturnType<typeof eventQueue>;

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
}) {
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
    send: (event: unknown): void =>
      void run(event).catch((error) => {
        if (!closed.signal.aborted) throw error;
      }),
    /** Forgets the events that wait for another try. */
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
