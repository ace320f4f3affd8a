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
 * @param s3 a client that retries single parts
 */
export const s3LargeFiles = (s3: S3Client, name: string, until: number): LargeFiles => ({
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
      // Opening the result may have used up the time of this try.
      signal.throwIfAborted();
      let bytes = 0;
      const counted = async function* () {
        for await (const chunk of source) {
          bytes += chunk.byteLength;
          yield chunk;
        }
      };
      const body = Readable.from(counted(), { objectMode: false });
      const upload = new Upload({
        client: s3,
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
        params: { ...stored(name, key, file), Body: body },
      });
      using _ = addAbortListener(signal, () => void upload.abort());
      try {
        await upload.done();
      } catch (error) {
        // No other try would mend it. `error` may be that the parts could not be removed either.
        if (body.errored instanceof NotEngineCsv) return body.errored;
        // The file already exists. It was written from the same execution, so it has the same bytes.
        if (!isRefusedCondition(error)) throw error;
      } finally {
        body.destroy();
      }
      return bytes;
    });
    if (outcome instanceof NotEngineCsv) throw outcome;
    return outcome;
  },
});
