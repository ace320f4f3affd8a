import { gzipped } from './gzipped.ts';
import { isLarge, zippedKey } from './publication.ts';
import type { ResultsBucket } from './results.ts';

/** Of one try to write it, for a caller who waits. */
const TRY_MS = 5_000;

/**
 * The key of a report's file in gzip, which is made of the plain file where it is not there yet. Undefined where there
 * is none and the file is too large to be zipped while a caller waits: the plain one serves every caller.
 *
 * @param key of the plain file
 */
export async function zippedBeside(results: ResultsBucket, key: string): Promise<string | undefined> {
  const zipped = zippedKey(key);
  if (await results.head(zipped)) return zipped;
  const plain = await results.head(key);
  if (!plain || isLarge(plain.bytes)) return undefined;
  const fileName = key.slice(key.lastIndexOf('/') + 1);
  const open = async () => {
    const content = await results.openFile(key);
    return content && gzipped(content);
  };
  const file = { fileName, metadata: plain.metadata, encoding: 'gzip' } as const;
  return (await results.writeOnce(zipped, file, open, TRY_MS)) ? zipped : undefined;
}
