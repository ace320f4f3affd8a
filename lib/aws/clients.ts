import { AthenaClient } from '@aws-sdk/client-athena';
import { S3Client } from '@aws-sdk/client-s3';

/** The AWS clients of one function, made once when it starts. Region, credentials and endpoints are the SDK's. */
export interface Clients {
  readonly athena: AthenaClient;
  readonly s3: S3Client;
}

/** The SDK opens at most 50 connections by default. Where one process takes hundreds of requests, calls would queue. */
const agent = { maxSockets: 1_000 };

/** A connection that says nothing for `socketTimeout` milliseconds is dead. */
const requestHandler = {
  connectionTimeout: 3_000,
  socketTimeout: 10_000,
  httpAgent: agent,
  httpsAgent: agent,
};

export const makeClients = (): Clients => ({
  // `call` in call.ts tries again; tries of the SDK would multiply with its own.
  athena: new AthenaClient({ requestHandler, maxAttempts: 1 }),
  s3: new S3Client({
    requestHandler,
    // Otherwise presigned URLs carry checksum parameters, which the client must repeat as headers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  }),
});
