import { gzipSync } from 'node:zlib';

/**
 * `gzipped.ts` without a thread of its own: under a fake clock, nothing can be told of what another thread does. A test
 * file puts it in place by `vi.mock('…/lib/delivery/gzipped.ts', () => import('…/gzipped-at-once.ts'))`.
 */
export const gzipped = async (file: Uint8Array): Promise<Uint8Array> => gzipSync(file);

export async function* gzippedChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const copies: Buffer[] = [];
  for await (const chunk of chunks) copies.push(Buffer.from(chunk));
  yield gzipSync(Buffer.concat(copies));
}
