import { once } from 'node:events';
import { createServer } from 'node:http';
import S3rver, { type Context } from '@20minutes/s3rver';
import responseHeaderOverride from '@20minutes/s3rver/lib/middleware/response-header-override.js';
import S3Error from '@20minutes/s3rver/lib/models/error.js';
import { clientGone } from './faults/client-gone.ts';
import type { Faults } from './faults/faults.ts';
import { conditionalRequestConflict } from './object-store/conditional-request-conflict.ts';
import { applyCorsRule, type CorsRule } from './object-store/cors-rule.ts';
import { listenOnOtherHost } from './object-store/listen-on-other-host.ts';
import { prepareBucket } from './object-store/object-files.ts';
import { LISTING, operationName, operations, readingOperations } from './object-store/operations.ts';
import { credentials, verifySignature } from './object-store/verify-signature.ts';

export interface ObjectStore {
  readonly url: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly region: string;
  close(): Promise<void>;
}

const CREATES_OBJECT = ['PUT object', 'POST object uploadId'];

/**
 * Starts an S3 on a free port of this machine that keeps its objects in `directory`. It has these buckets and those
 * that show a directory, and no others. Protocol and errors are s3rver's; where S3 differs from s3rver, the code is in
 * `object-store/`.
 */
export async function startObjectStore(options: {
  readonly directory: string;
  readonly buckets: readonly string[];
  /** Directories that are shown as buckets, by the bucket's name. Nothing can be written there. */
  readonly shown?: Readonly<Record<string, string>>;
  /** Prefixes under which a write without `If-None-Match` is denied, as the buckets' policy does. */
  readonly writtenOnce?: readonly string[];
  /** Buckets that nobody may list. As S3 does there, a missing object is answered `AccessDenied`, not `NoSuchKey`. */
  readonly unlisted?: readonly string[];
  /** Told of every object once it is there, as S3 tells EventBridge. */
  readonly onObjectCreated?: (object: { readonly bucket: string; readonly key: string }) => void;
  readonly faults?: Faults;
  /** Of all the buckets; without it, no page of another origin reads an answer. */
  readonly corsRule?: CorsRule;
}): Promise<ObjectStore> {
  const {
    directory,
    buckets,
    shown = {},
    writtenOnce = [],
    unlisted = [],
    onObjectCreated,
    faults,
    corsRule,
  } = options;
  for (const bucket of buckets) await prepareBucket(directory, bucket);
  const own = operations(directory);
  const operationsOf = new Map([
    ...buckets.map((bucket) => [bucket, own] as const),
    ...Object.entries(shown).map(([bucket, path]) => [bucket, readingOperations(path)] as const),
  ]);
  const overrideResponseHeaders = responseHeaderOverride();

  const s3 = new S3rver({ directory, silent: true, vhostBuckets: false });
  // The last middleware is s3rver's router, which would also answer requests without credentials.
  s3.middleware.pop();
  s3.use(async (ctx) => {
    ctx.params = bucketAndKey(ctx.path);
    verifySignature(ctx);
    ctx.state.account = { id: credentials.accessKeyId };
    const { bucket, key } = ctx.params;
    const known = operationsOf.get(bucket);
    if (!known) {
      throw new S3Error('NoSuchBucket', 'The specified bucket does not exist', { BucketName: bucket });
    }
    const struck = (await faults?.strike('s3', callName(ctx))) ?? [];
    if (struck.some(({ stall }) => stall)) return clientGone(ctx.res);
    if (struck.some(({ throttle }) => throttle))
      throw new S3Error('SlowDown', 'Please reduce your request rate.');
    if (struck.some(({ status }) => status === 409)) throw conditionalRequestConflict();
    if (struck.some(({ status }) => status === 500))
      throw new S3Error('InternalError', 'We encountered an internal error. Please try again.');
    const createsObject = CREATES_OBJECT.includes(operationName(ctx));
    const isDenied =
      (bucket in shown && !['GET', 'HEAD'].includes(ctx.method)) ||
      (createsObject && !ctx.get('if-none-match') && writtenOnce.some((prefix) => key.startsWith(prefix)));
    if (isDenied) throw new S3Error('AccessDenied', 'Access Denied');
    const operation = known[operationName(ctx)];
    if (!operation) throw new S3Error('NotImplemented', `${operationName(ctx)} is not implemented`);
    const isUnlisted = unlisted.includes(bucket);
    if (isUnlisted && operationName(ctx) === LISTING) throw new S3Error('AccessDenied', 'Access Denied');
    await overrideResponseHeaders(ctx, () => operation(ctx)).catch((error: unknown) => {
      const isMissing = error instanceof S3Error && error.code === 'NoSuchKey';
      throw isUnlisted && isMissing ? new S3Error('AccessDenied', 'Access Denied') : error;
    });
    if (createsObject) onObjectCreated?.(ctx.params);
  });

  const answer = s3.callback();
  const server = createServer((request, response) => {
    if (!corsRule || !applyCorsRule(corsRule, request, response)) answer(request, response);
  });
  const url = await listenOnOtherHost(server);
  return {
    url,
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

/** The text that a fault's `match` is looked for in: `GET athena/x.csv`, `LIST <bucket>/<prefix>`. */
const callName = (ctx: Context): string =>
  operationName(ctx) === LISTING
    ? `LIST ${ctx.params.bucket}/${new URLSearchParams(ctx.querystring).get('prefix') ?? ''}`
    : `${ctx.method} ${ctx.params.key}`;

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
