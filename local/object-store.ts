import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import S3rver from '@20minutes/s3rver';
import responseHeaderOverride from '@20minutes/s3rver/lib/middleware/response-header-override.js';
import S3Error from '@20minutes/s3rver/lib/models/error.js';
import type { Faults } from './faults/faults.ts';
import { applyCorsRule, type CorsRule } from './object-store/cors-rule.ts';
import { prepareBucket } from './object-store/object-files.ts';
import { operationName, operations } from './object-store/operations.ts';
import { credentials, verifySignature } from './object-store/verify-signature.ts';

export interface ObjectStore {
  readonly url: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly region: string;
  close(): Promise<void>;
}

const CREATES_OBJECT = ['PUT object', 'POST object uploadId'];

/**
 * Starts an S3 on a free port of this machine that keeps its objects in `directory` and has these buckets and
 * no others. Protocol and errors are s3rver's; what S3 does otherwise than s3rver stands in `object-store/`.
 */
export async function startObjectStore(options: {
  readonly directory: string;
  readonly buckets: readonly string[];
  /** Told of every object once it is there, as S3 tells EventBridge. */
  readonly onObjectCreated?: (object: { readonly bucket: string; readonly key: string }) => void;
  readonly faults?: Faults;
  /** Of all the buckets; without it, no page of another origin reads an answer. */
  readonly corsRule?: CorsRule;
}): Promise<ObjectStore> {
  const { directory, buckets, onObjectCreated, faults, corsRule } = options;
  for (const bucket of buckets) await prepareBucket(directory, bucket);
  const known = operations(directory);
  const overrideResponseHeaders = responseHeaderOverride();

  const s3 = new S3rver({ directory, silent: true, vhostBuckets: false });
  // The last one is its router, which also answers those who show no credentials.
  s3.middleware.pop();
  s3.use(async (ctx) => {
    ctx.params = bucketAndKey(ctx.path);
    verifySignature(ctx);
    ctx.state.account = { id: credentials.accessKeyId };
    const { bucket } = ctx.params;
    if (!buckets.includes(bucket)) {
      throw new S3Error('NoSuchBucket', 'The specified bucket does not exist', { BucketName: bucket });
    }
    const struck = (await faults?.strike('s3', `${ctx.method} ${ctx.params.key}`)) ?? [];
    if (struck.some(({ throttle }) => throttle))
      throw new S3Error('SlowDown', 'Please reduce your request rate.');
    const operation = known[operationName(ctx)];
    if (!operation) throw new S3Error('NotImplemented', `${operationName(ctx)} is not implemented`);
    await overrideResponseHeaders(ctx, () => operation(ctx));
    if (CREATES_OBJECT.includes(operationName(ctx))) onObjectCreated?.(ctx.params);
  });

  const answer = s3.callback();
  const server = createServer((request, response) => {
    if (!corsRule || !applyCorsRule(corsRule, request, response)) answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials,
    region: 'us-east-1',
    close: async () => {
      server.close();
      // A client's idle keep-alive connection would hold the server for seconds.
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const bucketAndKey = (path: string): { bucket: string; key: string } => {
  const [, bucket = '', ...key] = path.split('/').map(decodeSegment);
  return { bucket, key: key.join('/') };
};

const decodeSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
};
