import { linkSync, renameSync } from 'node:fs';
import { conditionalRequestConflict, noSuchKey, S3Error } from './s3-error.ts';
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

interface Write {
  isOvertaken: boolean;
}

/**
 * The conditional writes under way. If several write one object, the first to finish wins and the others get 412. A
 * DELETE that succeeds before a conditional write finishes makes that write a conflict (409). See
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html.
 */
export class WritesInFlight {
  readonly #writes = new Map<string, Set<Write>>();

  /** Runs a conditional write of the object. The write must publish by the function that it receives. */
  async run<T>(object: string, publish: Publish, write: (publish: Publish) => Promise<T>): Promise<T> {
    const own: Write = { isOvertaken: false };
    const others = this.#writes.get(object) ?? new Set();
    this.#writes.set(object, others.add(own));
    try {
      return await write((from, to) => {
        if (own.isOvertaken) throw conditionalRequestConflict();
        publish(from, to);
      });
    } finally {
      others.delete(own);
      if (others.size === 0) this.#writes.delete(object);
    }
  }

  objectDeleted(object: string): void {
    for (const write of this.#writes.get(object) ?? []) write.isOvertaken = true;
  }
}
