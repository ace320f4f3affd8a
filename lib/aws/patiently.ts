import { setTimeout as delay } from 'node:timers/promises';
import { AthenaServiceException, TooManyRequestsException } from '@aws-sdk/client-athena';
import { S3ServiceException } from '@aws-sdk/client-s3';
import { Unavailable } from '../answers/problem.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const RETRY_AFTER_SECONDS = 30;

/**
 * Repeats a call that AWS throttles, after pauses that grow and vary, until the deadline; throws Unavailable
 * then. The SDK's own few attempts come first, so that what arrives here is a service at its limit.
 *
 * @param deadline in milliseconds since 1970
 */
export async function patiently<T>(deadline: number, call: () => Promise<T>): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await call();
    } catch (error) {
      if (!isThrottling(error)) throw error;
      const pause = pauseMs * (0.5 + Math.random() / 2);
      if (Date.now() + pause >= deadline)
        throw new Unavailable(
          'The service has more to do than it can. Request the report again later.',
          RETRY_AFTER_SECONDS,
        );
      await delay(pause);
    }
  }
}

/** Athena's two ways to say so, of which the SDK knows one by its class, and S3's status, all that a HEAD has. */
const isThrottling = (error: unknown): boolean =>
  error instanceof TooManyRequestsException ||
  (error instanceof AthenaServiceException && error.name === 'ThrottlingException') ||
  (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 503);
