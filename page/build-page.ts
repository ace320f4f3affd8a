/** Builds the page: one HTML, one style sheet, the page's script and the script that reads reports beside it. */
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';

const source = join(import.meta.dirname, 'src');

/** The most that both scripts may have, gzipped: a phone on a slow line waits for them. Raise it only with a reason. */
const MAX_SCRIPT_BYTES = 120_000;

export interface BuiltFile {
  readonly name: string;
  readonly bytes: number;
  readonly gzippedBytes: number;
}

/** Writes the page's files into a directory. Throws where the scripts grow over their limit. */
export function buildPage(directory: string): BuiltFile[] {
  mkdirSync(directory, { recursive: true });
  buildSync({
    entryPoints: [
      { in: join(source, 'page.tsx'), out: 'page' },
      { in: join(source, 'reader.ts'), out: 'reader' },
      { in: join(source, 'page.css'), out: 'page' },
    ],
    outdir: directory,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  for (const name of ['page.html', 'icon.svg']) cpSync(join(source, name), join(directory, name));
  const built = ['page.html', 'page.css', 'page.js', 'reader.js', 'icon.svg'].map((name) => {
    const content = readFileSync(join(directory, name));
    return { name, bytes: content.length, gzippedBytes: gzipSync(content, { level: 9 }).length };
  });
  const script = built.filter(({ name }) => name.endsWith('.js'));
  const scriptBytes = script.reduce((sum, { gzippedBytes }) => sum + gzippedBytes, 0);
  if (scriptBytes > MAX_SCRIPT_BYTES)
    throw new Error(`The page's scripts are ${scriptBytes} bytes gzipped, more than ${MAX_SCRIPT_BYTES}.`);
  return built;
}
