/**
 * Models a client of the AWS SDK: the service's own adapters run on top of it. The client signs each request with the
 * machine's clock. AWS refuses a request whose time is far from its own, and the SDK then corrects the client's clock
 * for the next request. It retries nothing, because the service's clients don't (`lib/aws/clients.ts`).
 */
import { S3Client } from '@aws-sdk/client-s3';
import { CONFIG, seconds, statusError } from '../s3/memory-client.ts';
import type { World } from './world.ts';

/** The effect of a command. Throws if the request's time, `signedAt`, is refused. */
export type Act = (command: object, signal: AbortSignal | undefined, signedAt: number) => Promise<object>;

type Handler = (args: unknown) => Promise<{ readonly response: object; readonly output: object }>;

/** A real client. It only signs links, with the settings of a modelled one. */
const signer = new S3Client({
  region: 'eu-central-1',
  endpoint: 'https://s3.example',
  credentials: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'not secret' },
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
});

/** Formats times. Many calls fall into one second, so the last text is kept. */
function kept(format: (date: Date) => string): (time: number) => string {
  let [second, text] = [Number.NaN, ''];
  return (time) => {
    const now = seconds(time);
    if (now !== second) [second, text] = [now, format(new Date(now))];
    return text;
  };
}

const httpDate = kept((date) => date.toUTCString());
const amzDate = kept((date) => date.toISOString().replaceAll(/[-:]|\.\d+/g, ''));

export function sdkClient({ time }: World, act: Act) {
  const config = { ...signer.config, ...CONFIG };
  const wrappers: ((next: Handler) => Handler)[] = [];
  /** Every answer has a `Date`, by which the SDK corrects the client's clock. */
  const correct = (): void => {
    config.systemClockOffset = seconds(time.now()) - Date.now();
  };
  return {
    config,
    middlewareStack: {
      add: (wrap: (next: Handler) => Handler) => void wrappers.push(wrap),
      clone: () => signer.middlewareStack.clone(),
    },
    async send(command: object, { abortSignal }: { readonly abortSignal?: AbortSignal } = {}) {
      const signedAt = Date.now() + config.systemClockOffset;
      const response = () => ({ headers: { date: httpDate(time.now()) } });
      const handle: Handler = async () => {
        try {
          const answer = await act(command, abortSignal, signedAt);
          correct();
          return { response: response(), output: { ...answer, $metadata: { httpStatusCode: 200 } } };
        } catch (error) {
          const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
          if ($metadata?.httpStatusCode === undefined) throw error;
          correct();
          throw Object.assign(error as object, { $response: response() });
        }
      };
      const request = { headers: { 'x-amz-date': amzDate(signedAt) } };
      return (await wrappers.reduce((next, wrap) => wrap(next), handle)({ request })).output;
    },
  };
}

/** Throws the error `name` if a request was signed too long before or after the present. */
export function checkClock(
  { time, plan }: World,
  signedAt: number,
  { mostMs, name, status }: { readonly mostMs: number; readonly name: string; readonly status: number },
): void {
  if (plan.isMixed || Math.abs(signedAt - time.now()) <= mostMs) return;
  throw statusError(name, status);
}
