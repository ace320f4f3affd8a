import { resolve } from 'node:path';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { ListedFile } from '../../../lake-check/lake-facts.ts';
import { isLostWrite } from '../../../lib/aws/answers.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';

/** The fault if somebody else has changed the lake while a command was using it. */
export class LakeChanged extends OperatorFault {
  override readonly name = 'LakeChanged';
}

export type Bucket = ReturnType<typeof openBucket>;

/** The value of `over` for a write that must create the object. */
export const NOTHING = 'nothing';

export const isBucket = (location: string): boolean => location.startsWith('s3://');

/** The absolute location of a file or a lake, with a slash at its end. */
export const placeOf = (location: string): string =>
  `${isBucket(location) ? location.replace(/\/+$/, '') : resolve(location).replace(/\/$/, '')}/`;

/**
 * Opens a part of a bucket, `s3://bucket/prefix`. Paths are relative to the prefix. The AWS SDK takes region, credentials
 * and endpoint from the environment.
 */
export function openBucket(location: string) {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(location) ?? [];
  if (!bucket) throw new OperatorFault(`${location} names no bucket; write s3://bucket/prefix`);
  const root = path && !path.endsWith('/') ? `${path}/` : path;
  const s3 = new S3Client({
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const sent = <Output>(answer: Promise<Output>): Promise<Output> =>
    answer.catch((error: Error) => {
      if (isLostWrite(error))
        throw new LakeChanged(`${location} was changed while it was being used. Run the command again.`);
      const cause = error instanceof S3ServiceException ? `${error.name} ${error.message}` : error.message;
      throw new OperatorFault(
        `${location} can't be reached: ${cause}. Check bucket, region and credentials.`,
      );
    });
  return {
    location,
    async list(prefix = ''): Promise<ListedFile[]> {
      const pages = paginateListObjectsV2({ client: s3 }, { Bucket: bucket, Prefix: root + prefix });
      const listed = (await sent(Array.fromAsync(pages))).flatMap(({ Contents = [] }) => Contents);
      return listed.map(({ Key = '', Size: size = 0, LastModified, ETag }) => ({
        ...{ path: Key.slice(root.length), size, modifiedAt: LastModified?.getTime() ?? 0 },
        ...(ETag && { digest: ETag }),
      }));
    },
    /** The whole object, or its last `lastBytes` bytes. Rejects with LakeChanged if the object does not exist. */
    async read(path: string, lastBytes?: number) {
      const range = lastBytes !== undefined && { Range: `bytes=-${lastBytes}` };
      const { Body } = await sent(
        s3.send(new GetObjectCommand({ Bucket: bucket, Key: root + path, ...range })),
      );
      return Body as unknown as NodeJS.ReadableStream;
    },
    /**
     * Resolves to the new object's ETag. Rejects with LakeChanged if `over` forbids the write.
     *
     * @param over the ETag of the only object that may be replaced, or NOTHING if no object may be replaced
     */
    async write(path: string, body: NodeJS.ReadableStream | string, over?: string) {
      const condition = over && (over === NOTHING ? { IfNoneMatch: '*' } : { IfMatch: over });
      const target = { Bucket: bucket, Key: root + path, ...condition };
      const { ETag = '' } = await sent(
        typeof body === 'string'
          ? s3.send(new PutObjectCommand({ ...target, Body: body, ContentLength: Buffer.byteLength(body) }))
          : new Upload({ client: s3, params: { ...target, Body: body as unknown as ReadableStream } }).done(),
      );
      return ETag;
    },
    async remove(paths: readonly string[]) {
      for (const path of paths)
        await sent(s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: root + path })));
    },
  };
}
