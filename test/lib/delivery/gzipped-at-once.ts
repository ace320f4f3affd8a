import { gzipSync } from 'node:zlib';

/**
 * `gzipped.ts` without its own thread: a fake clock does not control other threads. A test file uses this module by
 * `vi.mock('…/lib/results/gzipped.ts', () => import('…/gzipped-at-once.ts'))`.
 */
export const gzipped = async (file: Uint8Array): Promise<Uint8Array> => gzipSync(file);

export async function* gzippedChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const copies: Buffer[] = [];
  for await (const chunk of chunks) copies.push(Buffer.from(chunk));
  yield gzipSync(Buffer.concat(copies));
}
