import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { type Utilization, utilizationOf } from './admission.ts';
import type { Log } from './log.ts';

export interface Invocation {
  readonly id: string;
  /** The same for each try of one event. */
  readonly requestId: string;
  readonly event: unknown;
  /** In milliseconds since 1970. */
  readonly deadline: number;
}

export interface Outcome {
  readonly id: string;
  readonly result?: unknown;
  readonly error?: string;
}

/** The function threw, died or ran out of time: what API Gateway answers as 502 or 504. */
export class FunctionFailed extends Error {
  readonly timedOut: boolean;

  constructor(message: string, timedOut = false) {
    super(message);
    this.timedOut = timedOut;
  }
}

export interface FunctionSpec {
  readonly name: string;
  /** The module that exports `handler`: a source file or a bundle. */
  readonly entry: URL;
  /** The function's environment variables, and no others. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Gets what the function writes. Without it, that goes to this process's own output. */
  readonly log?: Log | undefined;
}

export interface Sandbox {
  /** Runs the handler on one event. Throws FunctionFailed. */
  invoke(event: unknown, requestId?: string): Promise<unknown>;
  /** Ends the thread at once, whatever it is doing, as a crash would; the next invocation starts a new one. */
  kill(): Promise<void>;
  /** How busy its thread is, from 0 to 1. */
  readonly utilization: Utilization;
}

/** Without this limit V8 takes up to 100 MB more for each busy thread, and never gives it back. */
const YOUNG_GENERATION_MB = 16;

/** One function in a thread of its own, which the first invocation starts and which takes invocations concurrently. */
export function createSandbox(spec: FunctionSpec): Sandbox {
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
        stdout: log !== undefined,
        stderr: log !== undefined,
      });
      if (log)
        for (const output of [worker.stdout, worker.stderr]) output.on('data', (text) => log(`${text}`));
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
  const running = () => {
    thread ??= start();
    return thread;
  };

  return {
    async invoke(event, requestId = randomUUID()) {
      const worker = await running();
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
    utilization: utilizationOf(() => started?.performance.eventLoopUtilization),
    async kill() {
      await (await thread)?.terminate();
    },
  };
}
