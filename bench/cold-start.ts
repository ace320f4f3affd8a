/**
 * What a function's start costs: the time to import each bundle, beside a plain import of the SDK clients that it
 * uses, the same code unbundled, and a handler that does nothing. Each in a process of its own, interleaved.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { percentile } from './percentile.ts';

const ROUNDS = 15;
const root = join(import.meta.dirname, '..');
const url = (path: string) => pathToFileURL(join(root, path)).href;

const environment = {
  TOKEN_ISSUER: 'https://issuer.example',
  TOKEN_JWKS_URI: 'https://issuer.example/keys',
  API_SCOPE: 'api://reports',
  ENTITLEMENTS: 'none',
  ATHENA_DATABASE: 'reports',
  ATHENA_WORKGROUP: 'reports',
  RESULTS_BUCKET: 'results',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
};

const scratch = await mkdtemp(join(tmpdir(), 'cold-start-'));
await writeFile(join(scratch, 'hello.mjs'), 'export const handler = async () => ({ statusCode: 200 });\n');
const subjects: Record<string, string[]> = {
  'hello world': [pathToFileURL(join(scratch, 'hello.mjs')).href],
  'SDK clients, plain import': [
    '@aws-sdk/client-s3',
    '@aws-sdk/client-athena',
    '@aws-sdk/s3-request-presigner',
  ].map((name) => import.meta.resolve(name)),
  'publisherperformance, unbundled': [url('functions/publisherperformance.ts')],
  'publisherperformance, bundle': [url('dist/publisherperformance/index.mjs')],
  'advertiserperformance, bundle': [url('dist/advertiserperformance/index.mjs')],
  'downloads, bundle': [url('dist/downloads/index.mjs')],
  'publish, bundle': [url('dist/publish/index.mjs')],
};

/** Milliseconds that the imports take in a fresh process. */
async function importMs(modules: readonly string[]): Promise<number> {
  const script =
    `const from = performance.now();` +
    modules.map((name) => `await import(${JSON.stringify(name)});`).join('') +
    `process.stdout.write(String(performance.now() - from));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: environment,
    cwd: root,
  });
  return Number(stdout);
}

const times = new Map(Object.keys(subjects).map((name) => [name, [] as number[]]));
for (let round = 0; round < ROUNDS; round++)
  for (const [name, modules] of Object.entries(subjects)) times.get(name)?.push(await importMs(modules));

const plain = percentile(times.get('SDK clients, plain import') ?? [], 50);
process.stdout.write(
  '| | import, ms (median) | against the SDK clients alone | size, kB |\n| --- | --- | --- | --- |\n',
);
for (const [name, [first = '']] of Object.entries(subjects)) {
  const ms = percentile(times.get(name) ?? [], 50);
  const size = name.endsWith('bundle') ? ((await stat(new URL(first))).size / 1000).toFixed(0) : '';
  process.stdout.write(`| ${name} | ${ms.toFixed(0)} | ${(ms / plain).toFixed(2)}x | ${size} |\n`);
}
await rm(scratch, { recursive: true });
