import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

/**
 * The origins of a bucket's download URLs: the bucket's own origin, and the edge's origin if files come through an
 * edge. Makes no call: it signs a URL and reads the bucket's origin from it.
 */
export async function downloadOrigins(bucket: string, edgeOrigin?: string): Promise<string[]> {
  const url = await getSignedUrl(new S3Client({}), new GetObjectCommand({ Bucket: bucket, Key: 'any' }));
  return [new URL(url).origin, ...(edgeOrigin === undefined ? [] : [edgeOrigin])];
}
