import { Overloaded } from '../answers/problem.ts';
import { gzipped } from './gzipped.ts';
import { counted, isLarge, isZippedKey, zippedKey } from './publication.ts';
import type { ResultsBucket } from './results.ts';

/** Of one try to write it, for a caller who waits. */
const TRY_MS = 5_000;

/** A file in the results bucket. */
export interface GivenFile {
  readonly key: string;
  readonly bytes: number;
}

/**
 * A report's file in gzip, which is made of the plain file where it is not there yet. The plain file itself where that
 * is too large to be zipped while a caller waits, or S3 has no time for it: it serves every caller.
 *
 * @param file the plain one, or the zipped one
 */
export async function zippedBeside(results: ResultsBucket, { key, bytes }: GivenFile): Promise<GivenFile> {
  if (isZippedKey(key)) return { key, bytes };
  return (await makeZipped(results, key).catch(unlessOverloaded)) ?? { key, bytes };
}

function unlessOverloaded(error: unknown): undefined {
  if (!(error instanceof Overloaded)) throw error;
}

async function makeZipped(results: ResultsBucket, key: string): Promise<GivenFile | undefined> {
  const plain = await results.head(key);
  if (!plain || isLarge(plain.bytes)) return undefined;
  const fileName = key.slice(key.lastIndexOf('/') + 1);
  let bytes = 0;
  const open = async () => {
    bytes = 0;
    const content = await results.openFile(key);
    return content && counted(gzipped(content), (chunkBytes) => (bytes += chunkBytes));
  };
  const zipped = zippedKey(key);
  const file = { fileName, metadata: plain.metadata, encoding: 'gzip' } as const;
  return (await results.writeOnce(zipped, file, open, TRY_MS)) ? { key: zipped, bytes } : undefined;
}
