import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ListedFile } from './lake-facts.ts';
import type { LakeSource, LocalFiles } from './lake-source.ts';
import { listFolder } from './list-folder.ts';

/** A lake in a folder of this machine. */
export function folderSource(location: string): LakeSource {
  const root = resolve(location);
  const inPlace = async (listed: readonly ListedFile[]): Promise<LocalFiles> => ({
    files: listed.map(({ path }) => ({ id: path, path: join(root, path) })),
    async [Symbol.asyncDispose]() {},
  });
  return {
    location,
    list: (folder) => listFolder(root, folder),
    footersOf: inPlace,
    filesOf: inPlace,
    async digestOf({ path }) {
      const hash = createHash('sha256');
      await pipeline(createReadStream(join(root, path)), hash);
      return hash.digest('hex');
    },
  };
}
