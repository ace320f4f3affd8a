/** Bundles each function into `dist/<function>/index.mjs`, as it is deployed: minified ESM with a source map. */
import { readdir, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { build } from 'esbuild';

const functions = (await readdir('functions')).filter((file) => file.endsWith('.ts'));

await rm('dist', { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: functions.map((file) => ({ in: `functions/${file}`, out: `${basename(file, '.ts')}/index` })),
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  minify: true,
  keepNames: true,
  sourcemap: true,
  sourcesContent: false,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  metafile: true,
  // Some dependencies are CommonJS and ask for Node's own modules by `require`.
  banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
});
for (const [file, { bytes }] of Object.entries(metafile.outputs))
  if (file.endsWith('.mjs')) process.stdout.write(`${file}  ${(bytes / 1000).toFixed(0)} kB\n`);
