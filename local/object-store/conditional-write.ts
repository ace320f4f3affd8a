import { link, rename } from 'node:fs/promises';
import type { Context } from '@20minutes/s3rver';
import S3Error from '@20minutes/s3rver/lib/models/error.js';
import { openStoredFile, type Publish } from './stored-file.ts';

/** How a write is published: by `If-None-Match: *`, by `If-Match: <ETag>`, or without either by replacing. */
export function conditionalPublish(ctx: Context): Publish {
  const match = ctx.get('if-match');
  const noneMatch = ctx.get('if-none-match');
  if (match) return replaceOnly(match);
  if (noneMatch === '*') return createOnly;
  if (!noneMatch) return rename;
  throw new S3Error('NotImplemented', 'A header you provided implies functionality that is not implemented');
}

const refused = (condition: string) =>
  new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', {
    Condition: condition,
  });

/** Checks at the moment of publishing, so that an object that another writer has just made is seen too. */
const createOnly: Publish = async (from, to) => {
  await link(from, to).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? refused('If-None-Match') : error;
  });
};

/** Replacements run one after another: of several with the same ETag, only the first succeeds. */
let turn: Promise<unknown> = Promise.resolve();

const replaceOnly =
  (etag: string): Publish =>
  (from, to) => {
    const replace = turn.then(async () => {
      const file = await openStoredFile(to);
      await file?.close();
      if (!file) throw new S3Error('NoSuchKey', 'The specified key does not exist.');
      if (file.metadata['etag'] !== etag) throw refused('If-Match');
      await rename(from, to);
    });
    turn = replace.catch(() => {});
    return replace;
  };
