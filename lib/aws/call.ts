import { setTimeout as delay } from 'node:timers/promises';
import { AthenaServiceException } from '@aws-sdk/client-athena';
import { S3ServiceException } from '@aws-sdk/client-s3';
import { Overloaded } from '../problems/problem.ts';
import { AwsCallFailed, metadataOf } from './answers.ts';

const FIRST_PAUSE_MS = 100;
/** The longest pause between two tries: a throttled call may end this much before `until`. */
export const LONGEST_PAUSE_MS = 5_000;
const RETRY_AFTER_SECONDS = 30;
const TOO_MUCH = 'The service has more to do than it can. Request the report again later.';

/** S3 and Athena answer small calls in well under a second. */
const LONGEST_TRY_MS = 4_000;

interface CallLimits {
  readonly until: number;
  readonly longestTryMs?: number | undefined;
  readonly tries?: number | undefined;
}

/**
 * Makes one call to AWS. Tries again, after pauses that grow and vary, while AWS throttles the call, fails or does not
 * answer. Throws Overloaded if this goes on until `until` or the last try, and AwsCallFailed for every other error. A
 * request that was signed with a wrong time is repeated once, at once, and does not count as a try.
 * @param operation for the log: `S3 HeadObject`
 * @param limits `until` in milliseconds since 1970, the time limit of one try, and the most tries
 * @param send makes one try; it must itself handle an error that is an answer, such as a missing key
 */
export async function call<T>(
  operation: string,
  { until, longestTryMs = LONGEST_TRY_MS, tries = Number.POSITIVE_INFINITY }: CallLimits,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  let mostInformative: AwsCallFailed | undefined;
  let isTimeCorrected = false;
  for (let pauseMs = FIRST_PAUSE_MS, left = tries; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const signal = AbortSignal.timeout(Math.max(1, Math.min(longestTryMs, until - Date.now())));
    try {
      return await send(signal);
    } catch (error) {
      // A call inside this one threw this error, after its own tries.
      if (error instanceof Overloaded || error instanceof AwsCallFailed) throw error;
      // This machine's clock is wrong, and the SDK has now corrected the time with which it signs. If AWS refuses the
      // corrected request too, that is the answer.
      if (!isTimeCorrected && metadataOf(error).isSignedAtWrongTime) {
        isTimeCorrected = true;
        continue;
      }
      const failure = new AwsCallFailed(operation, error);
      if (!signal.aborted && !isTemporary(error)) throw failure;
      const pause = pauseMs * (0.5 + Math.random() / 2);
      // Keep AWS's last answer as the cause: it says more than the last try's time-out.
      mostInformative = failure.httpStatus === undefined ? (mostInformative ?? failure) : failure;
      left -= 1;
      if (left <= 0 || Date.now() + pause >= until)
        throw new Overloaded(TOO_MUCH, RETRY_AFTER_SECONDS, { cause: mostInformative });
      await delay(pause);
    }
  }
}

/**
 * Names of temporary errors with status 400, most of which have no class in the SDK. S3 answers `RequestTimeout` when it
 * has waited too long for the rest of a request; Athena throttles with the other names.
 */
const TEMPORARY_NAME = /^(RequestTimeout|Throttling|TooManyRequests)(Exception)?$/;

/**
 * Whether an error is temporary. The HTTP status shows the temporary errors that have no name, because the answer to a
 * HEAD has no body: 429, 5xx, or no status because the connection broke. S3 answers 409 to one of two simultaneous
 * conditional writes.
 */
function isTemporary(error: unknown): boolean {
  const isOfAws = error instanceof S3ServiceException || error instanceof AthenaServiceException;
  if (isOfAws && TEMPORARY_NAME.test(error.name)) return true;
  const { httpStatusCode: status } = metadataOf(error);
  return status === undefined ? isConnectionError(error) : status === 409 || status === 429 || status >= 500;
}

/**
 * Whether an error comes from the connection. Socket errors have a code such as `ECONNRESET`, the SDK's time-outs the name
 * `TimeoutError`. Codes that begin with `ERR_` are programming errors, except `ERR_STREAM_PREMATURE_CLOSE`.
 */
const isConnectionError = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'TimeoutError' ||
    /^E(?!RR_)[A-Z_]+$|^ERR_STREAM_PREMATURE_CLOSE$/.test((error as NodeJS.ErrnoException).code ?? ''));
