import {
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';

interface ObjectFacts {
  /** In milliseconds since 1970, to the second. */
  readonly lastModified: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A document, and the ETag of the object that held it. */
interface StoredDocument {
  readonly document: unknown;
  readonly etag: string | undefined;
}

/** Small documents and facts about objects in the results bucket. */
export interface ResultsBucket {
  readonly s3: S3Client;
  readonly name: string;
  /** Undefined where there is no such object. */
  head(key: string): Promise<ObjectFacts | undefined>;
  /** Undefined where there is no such object. */
  read(key: string): Promise<StoredDocument | undefined>;
  write(key: string, document: unknown): Promise<void>;
  /** False, and nothing written, where the object is no longer what it was when it was read (undefined: absent). */
  writeIfStill(was: StoredDocument | undefined, key: string, document: unknown): Promise<boolean>;
}

export function resultsBucket(s3: S3Client, name: string): ResultsBucket {
  const put = (key: string, document: unknown, condition: { IfNoneMatch?: '*'; IfMatch?: string }) =>
    s3.send(
      new PutObjectCommand({
        Bucket: name,
        Key: key,
        Body: JSON.stringify(document),
        ContentType: 'application/json',
        ...condition,
      }),
    );
  return {
    s3,
    name,
    async head(key) {
      try {
        const { LastModified, Metadata } = await s3.send(new HeadObjectCommand({ Bucket: name, Key: key }));
        return { lastModified: LastModified?.getTime() ?? 0, metadata: Metadata ?? {} };
      } catch (error) {
        if (error instanceof NotFound) return undefined;
        throw error;
      }
    },
    async read(key) {
      try {
        const { Body, ETag } = await s3.send(new GetObjectCommand({ Bucket: name, Key: key }));
        return { document: JSON.parse((await Body?.transformToString()) ?? ''), etag: ETag };
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
    async write(key, document) {
      await put(key, document, {});
    },
    async writeIfStill(was, key, document) {
      try {
        await put(key, document, was?.etag ? { IfMatch: was.etag } : { IfNoneMatch: '*' });
        return true;
      } catch (error) {
        // 412: changed; 409: another writer is at it this instant; 404: it was there, and is gone.
        if (
          error instanceof S3ServiceException &&
          [404, 409, 412].includes(error.$metadata.httpStatusCode ?? 0)
        )
          return false;
        throw error;
      }
    },
  };
}
