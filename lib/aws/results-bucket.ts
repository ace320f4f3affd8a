import { Readable } from 'node:stream';
import {
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { NotEngineCsv } from '../csv/not-engine-csv.ts';
import type {
  EngineResult,
  ObjectFacts,
  ReportFile,
  ResultsBucket,
  StoredDocument,
} from '../delivery/results.ts';
import { metadataOf } from './aws-call-failed.ts';
import { call } from './call.ts';

/** S3 takes 10,000 parts: with this size, files up to 80 GB. One publication holds a few parts in memory. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/**
 * The results bucket in S3. Every call ends by `until`, in milliseconds since 1970.
 *
 * @param name of the bucket
 */
export function s3ResultsBucket(s3: S3Client, name: string, until: number): ResultsBucket {
  const put = (key: string, document: unknown, condition: { IfNoneMatch: '*' } | { IfMatch: string }) =>
    call('S3 PutObject', until, async (abortSignal): Promise<StoredDocument | undefined> => {
      const command = new PutObjectCommand({
        Bucket: name,
        Key: key,
        Body: JSON.stringify(document),
        ContentType: 'application/json',
        ...condition,
      });
      try {
        return { document, etag: (await s3.send(command, { abortSignal })).ETag ?? '' };
      } catch (error) {
        if (isRefusedCondition(error)) return undefined;
        throw error;
      }
    });

  const opened = (object: { readonly Bucket: string; readonly Key: string }) =>
    call('S3 GetObject', until, async (trySignal): Promise<EngineResult | undefined> => {
      // Ends the try, but not the reading of what it has opened: that takes as long as the publication.
      const opening = new AbortController();
      const giveUp = () => opening.abort();
      trySignal.addEventListener('abort', giveUp);
      try {
        const command = new GetObjectCommand(object);
        const { Body, ContentLength } = await s3.send(command, { abortSignal: opening.signal });
        return { bytes: ContentLength ?? 0, content: Body as Readable };
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      } finally {
        trySignal.removeEventListener('abort', giveUp);
      }
    });

  return {
    head: (key) =>
      call('S3 HeadObject', until, async (abortSignal): Promise<ObjectFacts | undefined> => {
        try {
          const command = new HeadObjectCommand({ Bucket: name, Key: key });
          const { LastModified, ContentLength, Metadata } = await s3.send(command, { abortSignal });
          return {
            lastModified: LastModified?.getTime() ?? 0,
            bytes: ContentLength ?? 0,
            metadata: Metadata ?? {},
          };
        } catch (error) {
          if (error instanceof NotFound) return undefined;
          throw error;
        }
      }),
    read: (key) =>
      call('S3 GetObject', until, async (abortSignal): Promise<StoredDocument | undefined> => {
        try {
          const command = new GetObjectCommand({ Bucket: name, Key: key });
          const { Body, ETag } = await s3.send(command, { abortSignal });
          return { document: parsed(await Body?.transformToString()), etag: ETag ?? '' };
        } catch (error) {
          if (error instanceof NoSuchKey) return undefined;
          throw error;
        }
      }),
    create: (key, document) => put(key, document, { IfNoneMatch: '*' }),
    replace: ({ etag }, key, document) => put(key, document, { IfMatch: etag }),
    openResult: (location) => {
      const source = new URL(location);
      return opened({ Bucket: source.hostname, Key: decodeURIComponent(source.pathname.slice(1)) });
    },
    openFile: async (key) => (await opened({ Bucket: name, Key: key }))?.content,
    async writeOnce(key, file, open, longestTryMs = Number.POSITIVE_INFINITY) {
      const outcome = await call(
        'S3 PutObject',
        until,
        async (signal): Promise<boolean | NotEngineCsv> => {
          const opened = await open();
          if (!opened) return false;
          const content = watched(opened);
          try {
            // Opening the result may have used up the time of this try.
            signal.throwIfAborted();
            await upload(s3, { Bucket: name, Key: key }, file, content.chunks, signal);
          } catch (error) {
            const fault = content.fault();
            if (fault) return fault;
            // Somebody else has written it: from the same execution, so the same bytes.
            if (!isRefusedCondition(error, [PRECONDITION_FAILED])) throw error;
          }
          return true;
        },
        longestTryMs,
      );
      if (typeof outcome !== 'boolean') throw outcome;
      return outcome;
    },
    presign: (key, expiresInSeconds) =>
      getSignedUrl(s3, new GetObjectCommand({ Bucket: name, Key: key }), { expiresIn: expiresInSeconds }),
  };
}

const PRECONDITION_FAILED = 412;

/**
 * 412: the object is not what the condition says; 409: another writer is at it this instant; 404: it was there, and
 * is gone.
 */
const isRefusedCondition = (error: unknown, statuses = [PRECONDITION_FAILED, 409, 404]): boolean =>
  statuses.includes(metadataOf(error).httpStatusCode ?? 0);

/** Undefined where the object holds no JSON: what can't be read counts as absent, and may be replaced. */
function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

async function upload(
  s3: S3Client,
  target: { readonly Bucket: string; readonly Key: string },
  { fileName, metadata, encoding }: ReportFile,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const body = Readable.from(chunks, { objectMode: false });
  const running = new Upload({
    client: s3,
    partSize: PART_BYTES,
    queueSize: PARTS_AT_ONCE,
    params: {
      ...target,
      Body: body,
      // Handed to PutObject and to CompleteMultipartUpload: a report's file never changes.
      IfNoneMatch: '*',
      ContentType: 'text/csv; charset=utf-8',
      ...(encoding && { ContentEncoding: encoding }),
      ContentDisposition: `attachment; filename="${fileName}"`,
      Metadata: { ...metadata },
    },
  });
  const abort = () => void running.abort();
  signal.addEventListener('abort', abort);
  try {
    await running.done();
  } finally {
    signal.removeEventListener('abort', abort);
    body.destroy();
  }
}

/** Hands the chunks on, and keeps the error of their source, so that it is not taken for an error of the upload. */
function watched(source: AsyncIterable<Uint8Array>) {
  let fault: NotEngineCsv | undefined;
  async function* chunks() {
    try {
      yield* source;
    } catch (error) {
      if (error instanceof NotEngineCsv) fault = error;
      throw error;
    }
  }
  return { chunks: chunks(), fault: () => fault };
}
