import { rename } from 'node:fs/promises';
import type { Context } from '@20minutes/s3rver';
import * as controllers from '@20minutes/s3rver/lib/controllers/object.js';
import { conditionalPublish } from './conditional-write.ts';
import { DirectoryBucket } from './directory-bucket.ts';
import { type Listable, listObjects } from './list-objects.ts';
import { MultipartUploads } from './multipart-uploads.ts';
import { ObjectFiles } from './object-files.ts';
import type { ObjectReader } from './read-object.ts';
import type { Publish } from './stored-file.ts';
import { WritesInFlight } from './writes-in-flight.ts';

export type Operation = (ctx: Context) => Promise<void>;

export const LISTING = 'GET bucket list-type';

// Query parameters that leave the operation as it is. Any other may name a subresource: a DELETE with `?tagging`
// must not delete the object.
const PLAIN_PARAMETERS = [
  /^(x-amz-|x-id$|response-)/i,
  /^(prefix|delimiter|max-keys|start-after|continuation-token|encoding-type|fetch-owner)$/,
];

/** What a request asks for, by method, target and subresources: `GET object`, `POST object uploads`, … */
export function operationName(ctx: Context): string {
  const subresources = [...new URLSearchParams(ctx.querystring).keys()]
    .filter((name) => !PLAIN_PARAMETERS.some((plain) => plain.test(name)))
    .sort();
  const target = ctx.params.key ? 'object' : 'bucket';
  const copy = 'x-amz-copy-source' in ctx.headers ? ['copy'] : [];
  return [ctx.method, target, ...subresources, ...copy].join(' ');
}

/** What can be done in a bucket that shows a directory, by {@link operationName}. */
export function readingOperations(directory: string): Readonly<Record<string, Operation>> {
  const bucket = new DirectoryBucket(directory);
  return reading(bucket, () => bucket);
}

const reading = (
  objects: ObjectReader,
  bucketOf: (bucket: string) => Listable,
): Record<string, Operation> => {
  const getObject: Operation = async (ctx) => {
    // Parsed by the bucket: the controller's own parser takes `bytes=-5` for `0-5`, and `0-0` for everything.
    const object = await objects.getObject(ctx.params.bucket, ctx.params.key, ctx.get('range'));
    ctx.store = { getObject: async () => object };
    await controllers.getObject(ctx);
    // The controller does not close the content of a 304.
    if (ctx.status === 304) object?.content?.destroy();
  };
  return {
    'HEAD bucket': async (ctx) => {
      ctx.status = 200;
    },
    [LISTING]: (ctx) => listObjects(ctx, bucketOf(ctx.params.bucket)),
    'HEAD object': getObject,
    'GET object': getObject,
  };
};

/** All that the store does in its own buckets, by {@link operationName}; the rest of S3 is not implemented. */
export function operations(directory: string): Readonly<Record<string, Operation>> {
  const objects = new ObjectFiles(directory, rename);
  const uploads = new MultipartUploads(directory, objects);

  const inFlight = new WritesInFlight();
  const nameOf = ({ params }: Context) => `${params.bucket}/${params.key}`;

  /** The operation on a store that publishes under the request's condition. */
  const writing =
    (storeOf: (objects: ObjectFiles) => object, operation: Operation): Operation =>
    (ctx) => {
      const run = (publish: Publish) => {
        ctx.store = storeOf(new ObjectFiles(directory, publish));
        return operation(ctx);
      };
      const publish = conditionalPublish(ctx);
      return publish === rename ? run(rename) : inFlight.run(nameOf(ctx), publish, run);
    };
  const onObjects = (operation: Operation) => writing((objects) => objects, operation);
  const onUploads = (operation: Operation) =>
    writing((objects) => new MultipartUploads(directory, objects), operation);

  return {
    ...reading(objects, (bucket) => objects.bucket(bucket)),
    'PUT object': onObjects(controllers.putObject),
    'DELETE object': async (ctx) => {
      await objects.deleteObject(ctx.params.bucket, ctx.params.key);
      inFlight.objectDeleted(nameOf(ctx));
      ctx.status = 204;
    },
    'POST object uploads': onUploads(controllers.initiateMultipartUpload),
    'PUT object partNumber uploadId': onUploads(controllers.uploadPart),
    'POST object uploadId': onUploads(controllers.completeMultipartUpload),
    'DELETE object uploadId': async (ctx) => {
      await uploads.abortUpload(
        ctx.params.bucket,
        new URLSearchParams(ctx.querystring).get('uploadId') ?? '',
      );
      ctx.status = 204;
    },
  };
}
