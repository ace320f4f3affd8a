import { addAbortListener } from 'node:events';
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { NotEngineCsv } from '../csv/retype-csv.ts';
import type { LargeFiles } from '../results/results-bucket.ts';
import { isRefusedCondition } from './answers.ts';
import { call } from './call.ts';
import { getObject, objectOf, stored } from './results-bucket.ts';

/** S3 accepts 10,000 parts of a file, so it may have up to 80 GB. A publication holds a few in memory. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/**
 * Large files of the results bucket in S3. Every call ends by `until`, in milliseconds since 1970.
 *
 * @param s3 a client that retries single parts
 */
export function s3LargeFiles(s3: S3Client, name: string, until: number): LargeFiles {
  return {
    openResult: (location) =>
      call('S3 GetObject', { until }, async (trySignal): Promise<Readable | undefined> => {
        // The signal aborts only the opening. The content is read afterwards, for as long as the publication takes.
        const opening = new AbortController();
        using _ = addAbortListener(trySignal, () => opening.abort());
        return (await getObject(s3, objectOf(location), opening.signal))?.Body as Readable | undefined;
      }),
    async uploadFile(key, file, open) {
      const limits = { until, longestTryMs: Number.POSITIVE_INFINITY };
      const outcome = await call('S3 PutObject', limits, async (signal) => {
        const source = await open();
        if (!source) return undefined;
        const content = observed(source);
        try {
          // Opening the result may have used up the time of this try.
          signal.throwIfAborted();
          await upload(s3, stored(name, key, file), content.chunks, signal);
        } catch (error) {
          const fault = content.fault();
          if (fault) return fault;
          // The file already exists. It was written from the same execution, so it has the same bytes.
          if (!isRefusedCondition(error)) throw error;
        }
        return content.bytes();
      });
      if (outcome instanceof NotEngineCsv) throw outcome;
      return outcome;
    },
  };
}

async function upload(
  client: S3Client,
  target: ReturnType<typeof stored>,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const body = Readable.from(chunks, { objectMode: false });
  const running = new Upload({
    client,
    partSize: PART_BYTES,
    queueSize: PARTS_AT_ONCE,
    params: { ...target, Body: body },
  });
  using _ = addAbortListener(signal, () => void running.abort());
  try {
    await running.done();
  } finally {
    body.destroy();
  }
}

/** Counts the bytes, and keeps the source's NotEngineCsv, which else looks like an error of the upload. */
function observed(source: AsyncIterable<Uint8Array>) {
  let fault: NotEngineCsv | undefined;
  let bytes = 0;
  async function* chunks() {
    try {
      for await (const chunk of source) {
        bytes += chunk.byteLength;
        yield chunk;
      }
    } catch (error) {
      if (error instanceof NotEngineCsv) fault = error;
      throw error;
    }
  }
  return { chunks: chunks(), fault: () => fault, bytes: () => bytes };
}
