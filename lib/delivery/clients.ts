import { AthenaClient } from '@aws-sdk/client-athena';
import { S3Client } from '@aws-sdk/client-s3';
import type { Clients } from './deliver-report.ts';

/** The AWS clients of one function, made once when it starts. Region, credentials and endpoints are the SDK's. */
export const makeClients = (): Clients => ({
  athena: new AthenaClient({}),
  s3: new S3Client({
    // Otherwise presigned URLs carry checksum parameters, and clients must send what they signed.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  }),
});
