import { DeleteObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { makeClients, makeUploadClient } from '../../lib/aws/clients.ts';
import { s3LargeFiles } from '../../lib/aws/large-files.ts';
import { s3ResultsBucket } from '../../lib/aws/results-bucket.ts';
import { s3Lake } from '../../lib/aws/s3-lake.ts';
import type { WireSubject } from './subject.ts';

/** The limit for all calls of a suite together. A suite takes only seconds, unless a test hangs. */
const PATIENCE_MS = 240_000;

/**
 * A bucket behind a URL, through the service's own adapters. As on Lambda, the environment names the S3 to use.
 *
 * @param edgeOrigin the origin of the URLs for downloads
 */
export function wireSubject(Bucket: string, edgeOrigin?: string): WireSubject {
  const clients = [makeClients().s3, makeUploadClient()] as const;
  const [s3, uploads] = clients;
  const until = Date.now() + PATIENCE_MS;
  const paged: S3Client[] = [];
  /** A client whose listings have small pages. */
  const listing = (pageOf: number): S3Client => {
    const client = makeClients().s3;
    client.middlewareStack.add(
      (next) => (args) => next({ ...args, input: { MaxKeys: pageOf, ...args.input } }),
      { step: 'initialize' },
    );
    paged.push(client);
    return client;
  };
  return {
    results: { ...s3ResultsBucket(s3, Bucket, until, edgeOrigin), ...s3LargeFiles(uploads, Bucket, until) },
    put: (Key, content) => s3.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.from(content) })),
    remove: (Key) => s3.send(new DeleteObjectCommand({ Bucket, Key })),
    async fileOf(Key) {
      const head = await s3.send(new HeadObjectCommand({ Bucket, Key }));
      const { Metadata: metadata = {}, ContentEncoding: encoding } = head;
      return { metadata, ...(encoding !== undefined && { encoding: encoding as 'gzip' }) };
    },
    lake(prefix, pageOf) {
      const client = pageOf === undefined ? s3 : listing(pageOf);
      const onListingUnavailable = (error: unknown) => {
        throw error;
      };
      return s3Lake(client, { bucket: Bucket, prefix }, { until, cache: new Map(), onListingUnavailable });
    },
    async close() {
      for (const client of [...clients, ...paged]) client.destroy();
    },
  };
}
