import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { PutObjectCommand, type PutObjectCommandInput, type S3Client } from '@aws-sdk/client-s3';
import { QueryFailure } from './query-failure.ts';

export interface ResultFile {
  readonly id: string;
  readonly csvPath: string;
  /** `s3://bucket/key` */
  readonly outputLocation: string;
  readonly signal: AbortSignal;
}

/** Puts a query's result to S3, and the binary `.metadata` file that Athena puts beside it. */
export async function putResult(
  s3: S3Client,
  { id, csvPath, outputLocation, signal }: ResultFile,
): Promise<void> {
  const { hostname, pathname } = new URL(outputLocation);
  const put = async (key: string, content: Pick<PutObjectCommandInput, 'Body' | 'ContentLength'>) => {
    const object = { Bucket: hostname, Key: key, ContentType: 'application/octet-stream', ...content };
    await s3.send(new PutObjectCommand(object), { abortSignal: signal });
  };
  const key = pathname.slice(1);
  const csv = createReadStream(csvPath);
  try {
    await put(key, { Body: csv, ContentLength: (await stat(csvPath)).size });
    await put(`${key}.metadata`, { Body: metadataOf(id) });
  } catch (cause) {
    throw new QueryFailure('RESULT_WRITE_ERROR', `Failed to write ${outputLocation}: ${cause}`, { cause });
  } finally {
    // A file that was not read to its end stays open otherwise.
    csv.destroy();
  }
}

/** Athena's file is a Protocol Buffers message that begins with the query's id as field 1. */
const metadataOf = (id: string): Buffer => Buffer.concat([Buffer.from([0x0a, id.length]), Buffer.from(id)]);
