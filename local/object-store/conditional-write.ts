import { linkSync, renameSync } from 'node:fs';
import { noSuchKey, S3Error } from './s3-error.ts';
import type { StoreRequest } from './store-request.ts';
import { openStoredFile, type Publish } from './stored-file.ts';

/**
 * How a write is published. With `If-None-Match: *` it only creates, with `If-Match: <ETag>` it only replaces that
 * version, and without both it creates or replaces. The condition is checked at the moment of publishing, so it also
 * sees an object that another writer has just made.
 */
export function conditionalPublish({ headers }: StoreRequest): Publish {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (match) return replaceOnly(match);
  if (noneMatch === '*') return createOnly;
  if (!noneMatch) return renameSync;
  throw new S3Error('NotImplemented', 'A header you provided implies functionality that is not implemented');
}

const refused = (condition: string) =>
  new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', {
    Condition: condition,
  });

const createOnly: Publish = (from, to) => {
  try {
    linkSync(from, to);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? refused('If-None-Match') : error;
  }
};

/** The check and the rename are synchronous: of several writes with the same ETag, only the first succeeds. */
const replaceOnly =
  (etag: string): Publish =>
  (from, to) => {
    const file = openStoredFile(to);
    file?.close();
    if (!file) throw noSuchKey();
    if (file.metadata['etag'] !== etag) throw refused('If-Match');
    renameSync(from, to);
  };
