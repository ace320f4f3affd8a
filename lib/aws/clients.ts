import { AthenaClient } from '@aws-sdk/client-athena';
import { S3Client } from '@aws-sdk/client-s3';
import { keepAnswerDates } from './answer-date.ts';

/**
 * The AWS clients of one function, made once when it starts. The SDK finds the region, the credentials and the
 * endpoints.
 */
export interface Clients {
  readonly athena: AthenaClient;
  readonly s3: S3Client;
}

/**
 * The SDK opens at most 50 connections by default. If one process takes hundreds of requests, calls would wait for a
 * connection.
 */
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

export const makeClients = (): Clients => ({
  athena: keepAnswerDates(new AthenaClient({ requestHandler, ...ONE_TRY })),
  s3: keepAnswerDates(new S3Client({ ...s3Configuration, ...ONE_TRY })),
});

/** The client for large files. The SDK retries single parts, so that a failed part does not repeat the whole upload. */
export const makeUploadClient = (): S3Client => keepAnswerDates(new S3Client(s3Configuration));
