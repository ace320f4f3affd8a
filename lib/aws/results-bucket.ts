import type { Readable } from 'node:stream';
import {
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { EDGE_CACHE_CONTROL, LARGEST_EDGE_FILE, linkByEdge } from '../downloads-edge.ts';
import type { ObjectFacts, ReportFile, ResultsBucket } from '../results/results-bucket.ts';
import { dateOf, isRefusedCondition, undefinedIf } from './answers.ts';
import { call } from './call.ts';

/** Time limit of one try to read a small result or to write a small file. */
const CONTENT_TRY_MS = 5_000;

/**
 * The results bucket in S3. Every call ends by `until`, in milliseconds since 1970.
 * @param edge the edge's origin, if files are downloaded through an edge
 */
export function s3ResultsBucket(s3: S3Client, name: string, until: number, edge?: string): ResultsBucket {
  const put = (key: string, document: unknown, condition: { IfNoneMatch: '*' } | { IfMatch: string }) => {
    const object = { Bucket: name, Key: key };
    const text = JSON.stringify(document);
    const content = { Body: text, ContentType: 'application/json' };
    let tries = 0;
    return call('S3 PutObject', { until }, async (abortSignal) => {
      tries += 1;
      try {
        const command = new PutObjectCommand({ ...object, ...content, ...condition });
        return { document, etag: etagOf(await s3.send(command, { abortSignal })), ageMs: 0 };
      } catch (error) {
        if (!isRefusedCondition(error)) throw error;
        if (tries === 1) return undefined;
        // Perhaps S3 stored an earlier try, whose answer was lost, and refused this one because of it.
        const answer = await getObject(s3, object, abortSignal);
        if (!answer || (await answer.Body?.transformToString()) !== text) return undefined;
        return { document, etag: etagOf(answer), ageMs: ageOf(answer) };
      }
    });
  };

  return {
    head: (key) =>
      call('S3 HeadObject', { until }, async (abortSignal): Promise<ObjectFacts | undefined> => {
        const answer = await s3
          .send(new HeadObjectCommand({ Bucket: name, Key: key }), { abortSignal })
          .catch(undefinedIf((error) => error instanceof NotFound));
        return answer && { ageMs: ageOf(answer), bytes: answer.ContentLength ?? 0 };
      }),
    read: (key) =>
      call('S3 GetObject', { until }, async (abortSignal) => {
        const answer = await getObject(s3, { Bucket: name, Key: key }, abortSignal);
        if (!answer) return undefined;
        const document = parsed(await answer.Body?.transformToString());
        return { document, etag: etagOf(answer), ageMs: ageOf(answer) };
      }),
    create: (key, document) => put(key, document, { IfNoneMatch: '*' }),
    replace: ({ etag }, key, document) => put(key, document, { IfMatch: etag }),
    readResult: (location, maxBytes) =>
      call('S3 GetObject', { until, longestTryMs: CONTENT_TRY_MS }, async (abortSignal) => {
        const answer = await getObject(s3, objectOf(location), abortSignal);
        if (!answer) return undefined;
        const bytes = answer.ContentLength ?? 0;
        const body = answer.Body as (Readable & NonNullable<typeof answer.Body>) | undefined;
        if (body && bytes <= maxBytes) return { bytes, content: await body.transformToByteArray() };
        body?.destroy();
        return { bytes };
      }),
    writeFile: (key, file, content, tries) =>
      call('S3 PutObject', { until, longestTryMs: CONTENT_TRY_MS, tries }, async (abortSignal) => {
        await s3
          .send(new PutObjectCommand({ ...stored(name, key, file), Body: content }), { abortSignal })
          // The file already exists. It was written from the same execution, so it has the same bytes.
          .catch(undefinedIf(isRefusedCondition));
      }),
    locationOf: (key) => `s3://${name}/${key}`,
    presign: async (key, expiresInSeconds, bytes) => {
      const leadsTo = bytes > LARGEST_EDGE_FILE ? undefined : edge;
      const caching = leadsTo && { ResponseCacheControl: EDGE_CACHE_CONTROL };
      const command = new GetObjectCommand({ Bucket: name, Key: key, ...caching });
      // S3 checks a link by its own clock, so the link gets S3's time as the client knows it from the last answer.
      const signingDate = new Date(Date.now() + s3.config.systemClockOffset);
      const link = await getSignedUrl(s3, command, { expiresIn: expiresInSeconds, signingDate });
      return leadsTo ? linkByEdge(link, leadsTo) : link;
    },
  };
}

/** @param location `s3://bucket/key` */
export function objectOf(location: string) {
  const { hostname, pathname } = new URL(location);
  return { Bucket: hostname, Key: decodeURIComponent(pathname.slice(1)) };
}

/** Reads an object. Resolves to undefined if it does not exist. */
export const getObject = (
  s3: S3Client,
  object: { readonly Bucket: string; readonly Key: string },
  abortSignal: AbortSignal,
) =>
  s3
    .send(new GetObjectCommand(object), { abortSignal })
    .catch(undefinedIf((error) => error instanceof NoSuchKey));

/** How long ago an object was written: the answer's own time minus the object's `LastModified`. */
const ageOf = (answer: { LastModified?: Date | undefined; $metadata: object }): number =>
  answer.LastModified ? Math.max(0, dateOf(answer) - answer.LastModified.getTime()) : 0;

/** The S3 parameters for a report's file. The condition keeps a file from being overwritten. */
export const stored = (
  bucket: string,
  key: string,
  { fileName, executionId, dataVersion, encoding }: ReportFile,
) => ({
  Bucket: bucket,
  Key: key,
  // The SDK sends this condition with PutObject and with CompleteMultipartUpload.
  IfNoneMatch: '*',
  ContentType: 'text/csv; charset=utf-8',
  ...(encoding && { ContentEncoding: encoding }),
  ContentDisposition: `attachment; filename="${fileName}"`,
  Metadata: { 'query-execution-id': executionId, ...(dataVersion && { 'data-version': dataVersion }) },
});

/** The ETag of an answer. Throws if S3 sends no ETag: without an ETag, no later write could be conditional. */
export function etagOf({ ETag }: { readonly ETag?: string | undefined }): string {
  if (!ETag) throw new Error('S3 answered without an ETag');
  return ETag;
}

/** The value of a JSON text. A document that can't be read counts as absent (undefined), and may be replaced. */
function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** The origins of download URLs: the bucket's, read from a URL that is only signed, and the edge's if set. */
export async function downloadOrigins(bucket: string, edgeOrigin?: string): Promise<string[]> {
  const url = await getSignedUrl(new S3Client({}), new GetObjectCommand({ Bucket: bucket, Key: 'any' }));
  return [new URL(url).origin, ...(edgeOrigin === undefined ? [] : [edgeOrigin])];
}
