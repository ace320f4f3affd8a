import type { ResultsBucket } from './results.ts';

/** The results bucket, and the sizes of the files that were seen there or written, by their keys. */
export interface MeasuredResults {
  readonly results: ResultsBucket;
  readonly bytesOf: (key: string) => number | undefined;
}

/** Remembers the sizes that pass by, so that the log learns a file's size without a call of its own. */
export function measured(bucket: ResultsBucket): MeasuredResults {
  const sizes = new Map<string, number>();
  const results: ResultsBucket = {
    ...bucket,
    async head(key) {
      const found = await bucket.head(key);
      if (found) sizes.set(key, found.bytes);
      return found;
    },
    async writeOnce(key, file, open, longestTryMs) {
      let bytes = 0;
      const counted = async () => {
        const content = await open();
        bytes = 0;
        return content && counting(content, (chunkBytes) => (bytes += chunkBytes));
      };
      const isWritten = await bucket.writeOnce(key, file, counted, longestTryMs);
      // If another request had written the file before, this content was still read to its end, and has the same size.
      if (isWritten) sizes.set(key, bytes);
      return isWritten;
    },
  };
  return { results, bytesOf: (key) => sizes.get(key) };
}

async function* counting(chunks: AsyncIterable<Uint8Array>, tell: (bytes: number) => void) {
  for await (const chunk of chunks) {
    tell(chunk.byteLength);
    yield chunk;
  }
}
