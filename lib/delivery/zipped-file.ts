import { Overloaded } from '../answers/problem.ts';
import { gzipped } from './gzipped.ts';
import { isLarge, isZippedKey, zippedKey } from './publication.ts';
import type { ResultsBucket } from './results.ts';

/** Time limit of one try to write the zipped file while a caller waits. */
const TRY_MS = 5_000;

/**
 * Resolves to the key of a report's zipped file, which is made from the plain file if it isn't there yet. Resolves to
 * the plain file's key if that file is gone or too large to be zipped while a caller waits, or if S3 throttles.
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
