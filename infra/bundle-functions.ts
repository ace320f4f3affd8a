/**
 * Bundles each function as it is deployed: minified ESM with a source map. The CDK app bundles at every synthesis,
 * so that no stale bundle can be deployed; `npm run bundle` writes the same files to `dist/`, for tests and benchmarks.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { buildSync, type OutputFile } from 'esbuild';
import options from '../esbuild.config.mjs';
import { PUBLIC_FUNCTION } from '../lib/routes.ts';
import { buildPage } from '../page/build-page.ts';

const root = join(import.meta.dirname, '..');

/** The largest allowed size of a function's bundle. A function with a smaller bundle starts sooner. */
const MAX_BYTES = 480_000;

/**
 * Writes `<folder>/<function>/index.mjs` and its map for every function, and the page's files beside the function that
 * serves them. Throws if a bundle is too large.
 */
export function bundleFunctions(
  folder: string,
): readonly { readonly file: string; readonly bytes: number }[] {
  const written = bundles().map(({ path, contents }) => {
    const file = relative(join(root, 'dist'), path);
    const target = join(folder, file);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, contents);
    return { file, bytes: contents.byteLength };
  });
  const code = written.filter(({ file }) => file.endsWith('.mjs'));
  for (const { file, bytes } of code)
    if (bytes > MAX_BYTES) throw new Error(`${file} is larger than ${MAX_BYTES / 1000} kB`);
  const files = buildPage(join(folder, PUBLIC_FUNCTION, 'files'));
  return [...code, ...files.map(({ name, bytes }) => ({ file: `${PUBLIC_FUNCTION}/files/${name}`, bytes }))];
}

/** Bundles the functions in memory. The paths are those in `dist/`, so the source maps are the same in every folder. */
function bundles(): OutputFile[] {
  const functions = readdirSync(join(root, 'functions')).filter((file) => file.endsWith('.ts'));
  return buildSync({
    absWorkingDir: root,
    entryPoints: functions.map((file) => ({
      in: `functions/${file}`,
      out: `${basename(file, '.ts')}/index`,
    })),
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    write: false,
    mainFields: ['module', 'main'],
    ...options,
  }).outputFiles;
}

if (import.meta.main) {
  const folder = join(root, 'dist');
  rmSync(folder, { recursive: true, force: true });
  for (const { file, bytes } of bundleFunctions(folder))
    process.stdout.write(`dist/${file}  ${(bytes / 1000).toFixed(0)} kB\n`);
}
