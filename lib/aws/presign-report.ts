import { GetObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { ResultsBucket } from './results-bucket.ts';

/** A URL from which anyone who holds it can download the object until it expires (contract 4.2). */
export const presignReport = (
  { s3, name }: ResultsBucket,
  key: string,
  expiresInSeconds: number,
): Promise<string> =>
  getSignedUrl(s3, new GetObjectCommand({ Bucket: name, Key: key }), { expiresIn: expiresInSeconds });
