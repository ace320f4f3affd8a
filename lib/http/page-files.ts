import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** One file of the page, as it is served. */
interface PageFile {
  readonly mediaType: string;
  readonly body: string;
}

export interface PageFiles {
  /**
   * Changes when any of the files changes. The page loads its files by version, so a browser never uses an
   * outdated file.
   */
  readonly version: string;
  readonly byName: ReadonlyMap<string, PageFile>;
}

const MEDIA_TYPE: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads the page's files, once, when the function starts. Throws if the files were not built. */
export function readPageFiles(directory: string): PageFiles {
  const byName = new Map<string, PageFile>();
  const version = createHash('sha256');
  for (const name of readdirSync(directory).sort()) {
    const mediaType = MEDIA_TYPE[extname(name)];
    if (mediaType === undefined) continue;
    const body = readFileSync(join(directory, name), 'utf8');
    byName.set(name, { mediaType, body });
    version.update(body);
  }
  return { version: version.digest('hex').slice(0, 12), byName };
}
