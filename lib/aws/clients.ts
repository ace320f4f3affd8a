import { AthenaClient } from '@aws-sdk/client-athena';
import { S3Client } from '@aws-sdk/client-s3';
import { keepAnswerDates } from './answers.ts';

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
