import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { LEAST_ENVIRONMENT } from '../test/least-environment.ts';
import type { Section } from './section.ts';
import { roundsAtMost } from './size.ts';
import { figure, median, medianRatio, times } from './statistics.ts';

const ROUNDS = roundsAtMost(15);
const root = join(import.meta.dirname, '..');
const run = promisify(execFile);

/** The variables that a function reads as soon as its module is imported. */
const ENVIRONMENT = {
  ...LEAST_ENVIRONMENT,
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
};

/** Functions that no caller waits for, and that need more variables. */
const UNMEASURED = ['probe', 'release-check'];

const SDK_CLIENTS = ['@aws-sdk/client-s3', '@aws-sdk/client-athena', '@aws-sdk/s3-request-presigner'];
const HELLO = 'hello world';
const SDK = 'the SDK clients alone, not bundled';

/** The milliseconds that the imports take in a process of their own. */
async function importMs(modules: readonly string[]): Promise<number> {
  const imports = modules.map((module) => `await import(${JSON.stringify(module)});`).join('');
  const script = `const from = performance.now(); ${imports} process.stdout.write(String(performance.now() - from));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
    env: ENVIRONMENT,
    cwd: root,
  });
  return Number(stdout);
}

/** Compiles the functions and leaves their libraries in `node_modules`, as a deployment without a bundler does. */
async function compileOnly(functions: readonly string[], outdir: string): Promise<void> {
  await build({
    entryPoints: functions.map((name) => join(root, 'functions', `${name}.ts`)),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node24',
  });
}

export async function measure(): Promise<Section> {
  await run(process.execPath, [join(root, 'infra/bundle-functions.ts')], { cwd: root });
  // The scratch directory is inside the project, so that its modules find the project's libraries.
  await mkdir(join(root, '.local'), { recursive: true });
  const scratch = await mkdtemp(join(root, '.local', 'bench-'));
  const hello = join(scratch, 'hello.mjs');
  await writeFile(hello, 'export const handler = async () => ({ statusCode: 200 });\n');
  const functions = (await readdir(join(root, 'functions')))
    .map((file) => basename(file, '.ts'))
    .filter((name) => !UNMEASURED.includes(name));
  await compileOnly(functions, scratch);
  for (const name of functions) {
    // What a function serves lies beside its code.
    const files = join(root, 'dist', name, 'files');
    if (existsSync(files)) await cp(files, join(scratch, 'files'), { recursive: true });
  }
  const bundleOf = (name: string) => join(root, 'dist', name, 'index.mjs');
  const url = (path: string) => [pathToFileURL(path).href];
  const subjects: Record<string, string[]> = {
    [HELLO]: url(hello),
    [SDK]: SDK_CLIENTS.map((name) => import.meta.resolve(name)),
    ...Object.fromEntries(
      functions.flatMap((name) => [
        [`${name}, bundle`, url(bundleOf(name))],
        [`${name}, not bundled`, url(join(scratch, `${name}.mjs`))],
      ]),
    ),
  };
  const ms: Record<string, number[]> = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, modules] of Object.entries(subjects)) ms[name]?.push(await importMs(modules));
  await rm(scratch, { recursive: true });

  const of = (name: string) => ms[name] ?? [];
  const gains = functions.map((name) => medianRatio(of(`${name}, not bundled`), of(`${name}, bundle`)));
  const rows = await Promise.all(
    functions.map(async (name, index) => [
      name,
      figure((await stat(bundleOf(name))).size / 1_000),
      figure(median(of(`${name}, bundle`))),
      figure(median(of(`${name}, not bundled`))),
      times(gains[index] ?? Number.NaN),
    ]),
  );
  const least = Math.min(...gains);
  return {
    title: 'Cold start',
    method:
      `Importing each function in a process of its own, ${ROUNDS} rounds in turn, as bundled for Lambda and with ` +
      "its libraries in `node_modules`, the SDK's search for credentials among them, beside a handler that does nothing and the SDK clients without our code.",
    table: [
      ['function', 'bundle, kB', 'bundle, ms', 'not bundled, ms', 'the bundle is faster by'],
      [HELLO, '', figure(median(of(HELLO))), '', ''],
      [SDK, '', '', figure(median(of(SDK))), ''],
      ...rows,
    ],
    goals: [
      {
        goal: 'each bundle starts faster than the same code unbundled',
        measured: times(least),
        isMet: least > 1,
      },
    ],
  };
}
