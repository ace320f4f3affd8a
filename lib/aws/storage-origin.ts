import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

/** The origin of a bucket's download URLs, wherever the SDK finds S3. It makes no call: it signs a URL and reads it. */
export async function storageOrigin(bucket: string): Promise<string> {
  const url = await getSignedUrl(new S3Client({}), new GetObjectCommand({ Bucket: bucket, Key: 'any' }));
  return new URL(url).origin;
}
