import { AthenaClient } from '@aws-sdk/client-athena';
import { S3Client } from '@aws-sdk/client-s3';

/** Of the SDK's usual 50 connections, a process that takes hundreds of requests at once would have too few. */
const agent = { maxSockets: 1_000 };

/** A connection without data for `socketTimeout` milliseconds counts as dead. */
const requestHandler = {
  connectionTimeout: 3_000,
  socketTimeout: 10_000,
  httpAgent: agent,
  httpsAgent: agent,
};

const s3Configuration = {
  requestHandler,
  // Without these two settings, presigned URLs carry checksum parameters, which the caller must repeat as headers.
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
} as const;

/** The SDK makes one try, because `call` (call.ts) repeats calls by itself. Retries of both would multiply. */
const ONE_TRY = { maxAttempts: 1 };

/** The AWS clients of one function, made once when it starts. */
export const makeClients = () => ({
  athena: keepAnswerDates(new AthenaClient({ requestHandler, ...ONE_TRY })),
  s3: keepAnswerDates(new S3Client({ ...s3Configuration, ...ONE_TRY })),
});

export type Clients = ReturnType<typeof makeClients>;

/** The client for large files. The SDK retries single parts, so that a failed part does not repeat the whole upload. */
export const makeUploadClient = (): S3Client => keepAnswerDates(new S3Client(s3Configuration));

type Headers = Readonly<Record<string, string>>;

interface Response {
  readonly headers?: Headers;
}

type Middleware = Parameters<S3Client['middlewareStack']['add']>[0];

/**
 * From this difference on between a request's time and AWS's, the request may have been refused for it. AWS accepts 5
 * minutes, S3 accepts 15. The SDK corrects differences from this one on, too.
 */
const LARGEST_CLOCK_ERROR_MS = 240_000;

/**
 * Adds the time of AWS's answer (header `Date`) to each answer that a client returns. The client may be of any AWS
 * service. Ages and durations then depend on AWS's clock only. An error whose request was signed with a wrong time gets
 * `isSignedAtWrongTime`: the SDK has learnt the right time from the answer, so the next try may succeed.
 */
export function keepAnswerDates<C extends { readonly middlewareStack: { readonly add: unknown } }>(
  client: C,
): C {
  const keepDate = ((next: (args: unknown) => Promise<unknown>) =>
    async (args: { readonly request: { readonly headers: Headers } }) => {
      try {
        const result = (await next(args)) as {
          readonly response?: Response;
          readonly output: { readonly $metadata: { date?: number } };
        };
        const date = dateHeader(result.response);
        if (!Number.isNaN(date)) result.output.$metadata.date = date;
        return result;
      } catch (error) {
        const { $metadata, $response } = error as {
          readonly $metadata?: { isSignedAtWrongTime?: boolean };
          readonly $response?: Response;
        };
        const errorMs = Math.abs(dateHeader($response) - signedAt(args.request));
        if ($metadata && errorMs >= LARGEST_CLOCK_ERROR_MS) $metadata.isSignedAtWrongTime = true;
        throw error;
      }
    }) as unknown as Middleware;
  const { middlewareStack } = client as unknown as Pick<S3Client, 'middlewareStack'>;
  middlewareStack.add(keepDate, { step: 'deserialize', name: 'keepAnswerDate', priority: 'high' });
  return client;
}

const dateHeader = (response: Response | undefined): number => Date.parse(response?.headers?.['date'] ?? '');

/** The time with which a request was signed: the header `X-Amz-Date`, for example `20260102T030405Z`. */
const signedAt = ({ headers }: { readonly headers: Headers }): number =>
  Date.parse((headers['x-amz-date'] ?? '').replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/, '$1-$2-$3T$4:$5:'));

/** When AWS gave an answer that `keepAnswerDates` has seen, in milliseconds since 1970; else the present time. */
export const dateOf = ({ $metadata }: { readonly $metadata: object & { readonly date?: number } }): number =>
  $metadata.date ?? Date.now();
