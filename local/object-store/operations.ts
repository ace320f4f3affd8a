import { link, rename } from 'node:fs/promises';
import type { Context } from '@20minutes/s3rver';
import * as controllers from '@20minutes/s3rver/lib/controllers/object.js';
import S3Error from '@20minutes/s3rver/lib/models/error.js';
import type S3Object from '@20minutes/s3rver/lib/models/object.js';
import { listObjects } from './list-objects.ts';
import { MultipartUploads } from './multipart-uploads.ts';
import { ObjectFiles } from './object-files.ts';

export type Operation = (ctx: Context) => Promise<void>;

// Query parameters that do not make another operation of a request. Any other may: `?tagging` on a DELETE must
// not delete the object.
const PLAIN_PARAMETER =
  /^(x-amz-.*|x-id|response-.*|prefix|delimiter|max-keys|start-after|continuation-token|encoding-type|fetch-owner)$/i;

/** The key of {@link operations} that a request asks for: `GET object`, `POST object uploads`, … */
export function operationName(ctx: Context): string {
  const subresources = [...new URLSearchParams(ctx.querystring).keys()].filter(
    (name) => !PLAIN_PARAMETER.test(name),
  );
  const copy = 'x-amz-copy-source' in ctx.headers ? ['copy'] : [];
  return [ctx.method, ctx.params.key ? 'object' : 'bucket', ...subresources.sort(), ...copy].join(' ');
}

/** All that the store does; whatever isn't here is to be answered with NotImplemented. */
export function operations(directory: string): Readonly<Record<string, Operation>> {
  const objects = new ObjectFiles(directory, rename);
  const uploads = new MultipartUploads(directory, objects);
  const newObjects = new ObjectFiles(directory, linkNew);
  const newUploads = new MultipartUploads(directory, newObjects);

  const on =
    (store: object, operation: Operation, storeOfNew = store): Operation =>
    (ctx) => {
      ctx.store = createsOnly(ctx) ? storeOfNew : store;
      return operation(ctx);
    };

  const getObject: Operation = async (ctx) => {
    let object: S3Object | null = null;
    // The raw header: the controller's own reading of a range turns `-500` and `0-0` into others.
    const read = async (bucket: string, key: string) => {
      object = await objects.getObject(bucket, key, ctx.get('range'));
      return object;
    };
    ctx.store = { getObject: read };
    await controllers.getObject(ctx);
    // The controller leaves the content of a 304 open.
    if (ctx.status === 304) (object as S3Object | null)?.content?.destroy();
  };

  return {
    'HEAD bucket': async (ctx) => {
      ctx.status = 200;
    },
    'GET bucket list-type': (ctx) => listObjects(ctx, objects),
    'HEAD object': getObject,
    'GET object': getObject,
    'PUT object': on(objects, controllers.putObject, newObjects),
    'DELETE object': async (ctx) => {
      await objects.deleteObject(ctx.params.bucket, ctx.params.key);
      ctx.status = 204;
    },
    'POST object uploads': on(uploads, controllers.initiateMultipartUpload),
    'PUT object partNumber uploadId': on(uploads, controllers.uploadPart),
    'POST object uploadId': on(uploads, controllers.completeMultipartUpload, newUploads),
    'DELETE object uploadId': async (ctx) => {
      await uploads.abortUpload(
        ctx.params.bucket,
        new URLSearchParams(ctx.querystring).get('uploadId') ?? '',
      );
      ctx.status = 204;
    },
  };
}

/** Whether a write may only make a new object; other conditions of writes are not implemented. */
const createsOnly = (ctx: Context): boolean => {
  const noneMatch = ctx.get('if-none-match');
  if (ctx.get('if-match') || !['', '*'].includes(noneMatch)) {
    throw new S3Error(
      'NotImplemented',
      'A header you provided implies functionality that is not implemented',
    );
  }
  return noneMatch === '*';
};

/** Unlike a look before the write, refuses also what another writer has just made. */
const linkNew = async (from: string, to: string): Promise<void> => {
  await link(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', {
      Condition: 'If-None-Match',
    });
  });
};
