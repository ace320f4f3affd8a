import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { LEAST_ENVIRONMENT } from '../test/least-environment.ts';
import { figure, goal, median, medianRatio, roundsAtMost, type Section, times } from './measuring.ts';

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

/** The milliseconds that the import of a module takes in a process of its own. */
async function importMs(path: string): Promise<number> {
  const module = JSON.stringify(pathToFileURL(path).href);
  const script = `const from = performance.now(); await import(${module}); process.stdout.write(String(performance.now() - from));`;
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
  const subjects = new Map<string, string>(
    functions.flatMap((name) => [
      [`${name}, bundle`, bundleOf(name)] as const,
      [`${name}, not bundled`, join(scratch, `${name}.mjs`)] as const,
    ]),
  );
  const ms = new Map([...subjects.keys()].map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, path] of subjects) ms.get(name)?.push(await importMs(path));
  await rm(scratch, { recursive: true });

  const of = (name: string) => ms.get(name) ?? [];
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
    table: [['function', 'bundle, kB', 'bundle, ms', 'not bundled, ms', 'the bundle is faster by'], ...rows],
    goals: [goal('each bundle starts faster than the same code unbundled', times(least), least > 1)],
  };
}
