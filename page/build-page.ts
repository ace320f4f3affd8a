/** Builds the page: one HTML, one style sheet, the page's script and the script that reads reports beside it. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildSync, stop, version } from 'esbuild';

const root = join(import.meta.dirname, '..');
const source = join(import.meta.dirname, 'src');
const COPIED = ['page.html', 'icon.svg'];

/** The most that both scripts may have, gzipped: a phone on a slow line waits for them. Raise it only with a reason. */
const MAX_SCRIPT_BYTES = 120_000;

export interface BuiltFile {
  readonly name: string;
  readonly bytes: number;
  readonly gzippedBytes: number;
}

/** The texts of the page's files by name, and the SHA-256 of every file that they are made of, by its path. */
interface Page {
  readonly files: Readonly<Record<string, string>>;
  readonly sources: Readonly<Record<string, string>>;
}

/** Writes the page's files into a directory. Throws where the scripts grow over their limit. */
export function buildPage(directory: string): BuiltFile[] {
  const { files } = made();
  writeFiles(directory, files);
  const built = Object.entries(files).map(([name, content]) => ({
    name,
    bytes: Buffer.byteLength(content),
    gzippedBytes: gzipSync(content, { level: 9 }).length,
  }));
  const script = built.filter(({ name }) => name.endsWith('.js'));
  const scriptBytes = script.reduce((sum, { gzippedBytes }) => sum + gzippedBytes, 0);
  if (scriptBytes > MAX_SCRIPT_BYTES)
    throw new Error(`The page's scripts are ${scriptBytes} bytes gzipped, more than ${MAX_SCRIPT_BYTES}.`);
  return built;
}

const KEPT = join(root, 'node_modules/.cache/performance-reports', `page-${version}.json`);

/**
 * Does the same, but makes the files only where one of their sources has changed since they were last kept.
 *
 * @param kept the file that keeps them
 */
export function buildPageOnce(directory: string, kept = KEPT): void {
  let page = read(kept);
  if (!page || Object.entries(page.sources).some(([path, digest]) => digestOf(join(root, path)) !== digest)) {
    const { isCurrent, ...fresh } = made();
    if (isCurrent) keep(fresh, kept);
    page = fresh;
  }
  writeFiles(directory, page.files);
}

function made(): Page & { readonly isCurrent: boolean } {
  const began = Date.now();
  const { outputFiles, metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: [
      { in: join(source, 'page.tsx'), out: 'page' },
      { in: join(source, 'reader.ts'), out: 'reader' },
      { in: join(source, 'page.css'), out: 'page' },
    ],
    outdir: root,
    write: false,
    metafile: true,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  // Otherwise a process of the bundler stays for as long as this one.
  void stop();
  const copied = COPIED.map((name) => [name, readFileSync(join(source, name), 'utf8')] as const);
  const bundled = outputFiles.map(({ path, text }) => [basename(path), text] as const);
  const paths = [
    ...Object.keys(metafile.inputs),
    ...COPIED.map((name) => `page/src/${name}`),
    ...['tsconfig.json', 'page/tsconfig.json', 'package-lock.json'],
    relative(root, import.meta.filename),
  ];
  return {
    files: Object.fromEntries([...copied, ...bundled]),
    // Otherwise one was written while the page was made of it.
    isCurrent: paths.every((path) => statSync(join(root, path)).mtimeMs < began),
    sources: Object.fromEntries(paths.map((path) => [path, digestOf(join(root, path)) ?? ''])),
  };
}

function writeFiles(directory: string, files: Page['files']): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
}

/** What was kept; undefined where nothing was, or nothing that can be read. */
function read(kept: string): Page | undefined {
  try {
    const { files, sources } = JSON.parse(readFileSync(kept, 'utf8')) as Partial<Page>;
    return files?.['page.html'] !== undefined && sources ? { files, sources } : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all, since another process may be reading it; not where nothing can be written. */
function keep(page: Page, kept: string): void {
  const partial = `${kept}-${randomUUID()}`;
  try {
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(partial, JSON.stringify(page));
    renameSync(partial, kept);
  } catch {
    // It is made again at the next start.
  }
}

/** Undefined where there is no such file any more. */
function digestOf(path: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return undefined;
  }
}
