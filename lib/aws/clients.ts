import { AthenaClient } from '@aws-sdk/client-athena';
import { S3Client } from '@aws-sdk/client-s3';

/** The AWS clients of one function, made once when it starts. Region, credentials and endpoints are the SDK's. */
export interface Clients {
  readonly athena: AthenaClient;
  readonly s3: S3Client;
}

/** A connection that says nothing for so long is dead. */
const requestHandler = { connectionTimeout: 3_000, socketTimeout: 10_000 };

export const makeClients = (): Clients => ({
  // `call` repeats what may be repeated: tries of the SDK's own would come on top of its.
  athena: new AthenaClient({ requestHandler, maxAttempts: 1 }),
  s3: new S3Client({
    requestHandler,
    // Otherwise presigned URLs carry checksum parameters, and clients must send what they signed.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  }),
});
