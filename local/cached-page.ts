import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makePage, type PageFiles, writePage } from '../page/build-page.ts';

const root = join(import.meta.dirname, '..');
const KEPT = join(root, 'node_modules/.cache/performance-reports/page.json');

/** A cached build of the page. */
interface CachedPage {
  readonly files: PageFiles;
  /** The SHA-256 of each source that the page depends on, by its path from the project's root. */
  readonly digests: Readonly<Record<string, string>>;
}

/**
 * Writes the page's files into a directory and returns the directory. The files are built only if a source has changed
 * since they were cached.
 *
 * @param kept the file of the cache
 */
export function cachedPage(directory: string, kept = KEPT): string {
  const page = read(kept);
  const isCurrent =
    page && Object.entries(page.digests).every(([path, digest]) => digestOf(join(root, path)) === digest);
  writePage(directory, isCurrent ? page.files : buildAndKeep(kept));
  return directory;
}

function buildAndKeep(kept: string): PageFiles {
  const began = Date.now();
  const { files, sources } = makePage();
  // If a source was written during the build, the files may come from its old text. They are then not cached.
  if (sources.every((path) => statSync(join(root, path)).mtimeMs < began)) {
    const digests = sources.map((path) => [path, digestOf(join(root, path)) ?? ''] as const);
    keep({ files, digests: Object.fromEntries(digests) }, kept);
  }
  return files;
}

/** Reads the cache. Undefined if there is no readable cache. */
function read(kept: string): CachedPage | undefined {
  try {
    const { files, digests } = JSON.parse(readFileSync(kept, 'utf8')) as Partial<CachedPage>;
    return files?.['page.html'] !== undefined && digests ? { files, digests } : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the file under another name and renames it, so that another process never reads half of it. */
function keep(page: CachedPage, kept: string): void {
  const partial = `${kept}-${randomUUID()}`;
  try {
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(partial, JSON.stringify(page));
    renameSync(partial, kept);
  } catch {
    // The cache can't be written. The next start builds the page again.
  }
}

/** The SHA-256 of a file. Undefined if the file no longer exists. */
function digestOf(path: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return undefined;
  }
}
