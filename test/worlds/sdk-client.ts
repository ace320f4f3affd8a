/**
 * Models a client of the AWS SDK: the service's own adapters run on top of it. The client signs each request with the
 * machine's clock. AWS refuses a request whose time is far from its own, and the SDK then corrects the client's clock
 * for the next request. It retries nothing, because the service's clients don't (`lib/aws/clients.ts`).
 */
import type { World } from './world.ts';

/** The effect of a command. Throws if the request's time, `signedAt`, is refused. */
export type Act = (command: object, signal: AbortSignal | undefined, signedAt: number) => Promise<object>;

type Handler = (args: unknown) => Promise<{ readonly response: object; readonly output: object }>;

/** The SDK marks an error if the client's clock was off by at least this much. */
const MARKED_MS = 240_000;

const seconds = (time: number): number => Math.floor(time / 1_000) * 1_000;

export function sdkClient({ time }: World, act: Act) {
  const config = {
    systemClockOffset: 0,
    endpoint: async () => ({ protocol: 'https:', hostname: 's3.example', path: '/' }),
  };
  const wrappers: ((next: Handler) => Handler)[] = [];
  /** Every answer has a `Date`, by which the SDK corrects the client's clock. */
  const correct = (): void => {
    config.systemClockOffset = seconds(time.now()) - Date.now();
  };
  return {
    config,
    middlewareStack: { add: (wrap: (next: Handler) => Handler) => void wrappers.push(wrap) },
    async send(command: object, { abortSignal }: { readonly abortSignal?: AbortSignal } = {}) {
      const offset = config.systemClockOffset;
      const handle: Handler = async () => {
        const answer = await act(command, abortSignal, Date.now() + offset);
        correct();
        return {
          response: { headers: { date: new Date(time.now()).toUTCString() } },
          output: { ...answer, $metadata: { httpStatusCode: 200 } },
        };
      };
      try {
        return (await wrappers.reduce((next, wrap) => wrap(next), handle)({})).output;
      } catch (error) {
        const metadata = (error as { $metadata?: { httpStatusCode?: number; clockSkewCorrected?: boolean } })
          .$metadata;
        if (metadata?.httpStatusCode === undefined) throw error;
        correct();
        if (Math.abs(config.systemClockOffset) >= MARKED_MS && config.systemClockOffset !== offset)
          metadata.clockSkewCorrected = true;
        throw error;
      }
    },
  };
}

/** An error of the kind that the SDK throws. */
export const statusError = (name: string, httpStatusCode: number): Error =>
  Object.assign(new Error(), { name, $metadata: { httpStatusCode } });

/** Throws the error `name` if a request was signed too long before or after the present. */
export function checkClock(
  { time, plan }: World,
  signedAt: number,
  { mostMs, name, status }: { readonly mostMs: number; readonly name: string; readonly status: number },
): void {
  if (plan.isMixed || Math.abs(signedAt - time.now()) <= mostMs) return;
  throw statusError(name, status);
}
