import { S3Client } from '@aws-sdk/client-s3';
import type { Stack } from '../local/stack.ts';

/** A client of a stack's storage, with the credentials that the stack has drawn. */
export const s3Of = ({ storageUrl: endpoint, environment }: Pick<Stack, 'storageUrl' | 'environment'>) =>
  new S3Client({
    endpoint,
    region: 'us-east-1',
    credentials: {
      accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
    },
  });
