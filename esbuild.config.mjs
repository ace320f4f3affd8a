/** Bundles each function into `dist/<function>/index.mjs`, as it is deployed: minified ESM with a source map. */
import { readdir, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { build } from 'esbuild';
import { buildPage } from './page/build-page.ts';

/** A report's function starts in this much less time the smaller it is; more than this needs a reason. */
const MOST_BYTES = 480_000;

/**
 * A Lambda has its role's credentials in the environment. The SDK's search for others (profiles, SSO, instance
 * metadata) is a fifth of the bundle.
 */
const credentialsOfTheEnvironment = {
  name: 'credentials-of-the-environment',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, ({ resolveDir }) => ({
      path: 'lambda-credentials',
      namespace: 'lambda',
      pluginData: resolveDir,
    }));
    onLoad({ filter: /.*/, namespace: 'lambda' }, ({ pluginData }) => ({
      contents: "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';",
      resolveDir: pluginData,
    }));
  },
};

const functions = (await readdir('functions')).filter((file) => file.endsWith('.ts'));

await rm('dist', { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: functions.map((file) => ({ in: `functions/${file}`, out: `${basename(file, '.ts')}/index` })),
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  metafile: true,
  plugins: [credentialsOfTheEnvironment],
  // Some dependencies are CommonJS and ask for Node's own modules by `require`.
  banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
});
for (const [file, { bytes }] of Object.entries(metafile.outputs)) {
  if (!file.endsWith('.mjs')) continue;
  process.stdout.write(`${file}  ${(bytes / 1000).toFixed(0)} kB\n`);
  if (bytes > MOST_BYTES) throw new Error(`${file} is larger than ${MOST_BYTES / 1000} kB`);
}
for (const { name, bytes, gzippedBytes } of await buildPage('dist/page/files'))
  process.stdout.write(
    `dist/page/files/${name}  ${(bytes / 1000).toFixed(1)} kB, gzipped ${(gzippedBytes / 1000).toFixed(1)} kB\n`,
  );
