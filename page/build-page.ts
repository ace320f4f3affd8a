/**
 * Builds the page's files: the HTML, the icon, the style sheet, the page's script and the worker script that reads
 * reports.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildSync, stop } from 'esbuild';
import { makeDocuments } from './build-documents.ts';

const root = join(import.meta.dirname, '..');
const source = join(import.meta.dirname, 'src');
const COPIED = ['page.html', 'icon.svg'];

/**
 * The largest size of both scripts together, gzipped. A phone on a slow line waits for them, so raise the limit only
 * with a reason.
 */
const MAX_SCRIPT_BYTES = 120_000;

/** The page's files: the text of each file, by the file's name. */
export type PageFiles = Readonly<Record<string, string>>;

export interface BuiltFile {
  readonly name: string;
  readonly bytes: number;
  readonly gzippedBytes: number;
}

/** Writes the page's files into a directory. Throws if the scripts are larger than their limit. */
export function buildPage(directory: string): BuiltFile[] {
  const files = makePage();
  writePage(directory, files);
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

/** Builds the page's files. */
export function makePage(): PageFiles {
  const { outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: [
      { in: join(source, 'page.tsx'), out: 'page' },
      { in: join(source, 'reader/reader.ts'), out: 'reader' },
      { in: join(source, 'page.css'), out: 'page' },
    ],
    outdir: root,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  // Ends the process that esbuild started. It would otherwise live as long as this process.
  void stop();
  const copied = COPIED.map((name) => [name, readFileSync(join(source, name), 'utf8')] as const);
  const bundled = outputFiles.map(({ path, text }) => [basename(path), text] as const);
  return {
    ...Object.fromEntries([...copied, ...bundled]),
    ...makeDocuments((file) => readFileSync(join(root, file), 'utf8')),
  };
}

export function writePage(directory: string, files: PageFiles): void {
  mkdirSync(join(directory, 'docs'), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
}
