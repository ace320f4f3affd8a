import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ListedFile } from './lake-facts.ts';
import { listFolder } from './list-folder.ts';
import type { LocalFile } from './read-footers.ts';

/** The place of a lake: a folder of this machine, or a bucket. */
export interface LakeSource {
  /** The location as the operator wrote it. */
  readonly location: string;
  /** Lists the lake, or one folder of it: nothing if it does not exist. Rejects with an OperatorFault if it can't. */
  list(folder?: string): Promise<ListedFile[]>;
  /** Puts the files' footers where DuckDB can read them. */
  footersOf(listed: readonly ListedFile[]): Promise<LocalFiles>;
  /** Puts whole files where DuckDB can read them. */
  filesOf(listed: readonly ListedFile[]): Promise<LocalFiles>;
  /** A digest of the file's whole content. */
  digestOf(file: ListedFile): Promise<string>;
}

/** Files that can be read until they are disposed of. */
export interface LocalFiles extends AsyncDisposable {
  readonly files: readonly LocalFile[];
}

/** A lake in a folder of this machine. */
export function folderSource(location: string): LakeSource {
  const root = resolve(location);
  const inPlace = async (listed: readonly ListedFile[]) => ({
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
