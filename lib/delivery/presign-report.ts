import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

/** A URL from which anyone who holds it can download the object until it expires (contract 4.2). */
export const presignReport = (
  s3: S3Client,
  bucket: string,
  key: string,
  expiresInSeconds: number,
): Promise<string> =>
  getSignedUrl(s3, new GetObjectCommand({ Bucket: bucket, Key: key }), { expiresIn: expiresInSeconds });
