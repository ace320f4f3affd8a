import { Overloaded } from '../answers/problem.ts';
import { gzipped } from './gzipped.ts';
import { isLarge, isZippedKey, zippedKey } from './publication.ts';
import type { ResultsBucket } from './results.ts';

/** Of one try to write it, for a caller who waits. */
const TRY_MS = 5_000;

/**
 * The key of a report's file in gzip, which is made of the plain file where it is not there yet. The plain file's own
 * where that is too large to be zipped while a caller waits, or S3 has no time for it: it serves every caller.
 *
 * @param key of the plain file, or of the zipped one
 */
export async function zippedBeside(results: ResultsBucket, key: string): Promise<string> {
  if (isZippedKey(key)) return key;
  return (await makeZipped(results, key).catch(unlessOverloaded)) ?? key;
}

function unlessOverloaded(error: unknown): undefined {
  if (!(error instanceof Overloaded)) throw error;
}

async function makeZipped(results: ResultsBucket, key: string): Promise<string | undefined> {
  const plain = await results.head(key);
  if (!plain || isLarge(plain.bytes)) return undefined;
  const fileName = key.slice(key.lastIndexOf('/') + 1);
  const open = async () => {
    const content = await results.openFile(key);
    return content && gzipped(content);
  };
  const zipped = zippedKey(key);
  const file = { fileName, metadata: plain.metadata, encoding: 'gzip' } as const;
  return (await results.writeOnce(zipped, file, open, TRY_MS)) ? zipped : undefined;
}
