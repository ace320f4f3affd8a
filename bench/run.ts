/**
 * `npm run bench` runs every benchmark and writes docs/benchmarks.md. `npm run bench -- retyping waiting` runs only
 * these two and writes no file. Both print what the benchmarks find.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, type as operatingSystem, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { renderSection, renderSummary, type Section } from './section.ts';

const BENCHMARKS = [
  'retyping',
  'gzipping',
  'request-overhead',
  'repeats',
  'cold-start',
  'bytes-scanned',
  'under-load',
  'growth',
  'listing',
  'rush',
  'noticed',
  'fair-shares',
  'check',
  'convert',
];
const BASELINES = ['csv-parse', 'csv-stringify', 'papaparse'];

const root = join(import.meta.dirname, '..');

async function measured(name: string): Promise<Section> {
  process.stderr.write(`${name} …\n`);
  // All files that a benchmark leaves behind are deleted with this directory, even if the benchmark fails.
  const scratch = await mkdtemp(join(tmpdir(), 'bench-'));
  const part = fork(join(import.meta.dirname, 'part.ts'), [name], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, TMPDIR: scratch },
  });
  let section: Section | undefined;
  part.on('message', (message: Section) => {
    section = message;
  });
  const [code] = await once(part, 'exit');
  await rm(scratch, { recursive: true, force: true });
  if (!section || code !== 0) throw new Error(`${name} ended with ${code}`);
  process.stdout.write(`${renderSection(section)}\n\n${renderSummary([section])}\n\n`);
  return section;
}

async function setting(): Promise<string> {
  const versionOf = async (dependency: string) =>
    JSON.parse(await readFile(join(root, 'node_modules', dependency, 'package.json'), 'utf8')).version;
  const connection = await (await DuckDBInstance.create()).connect();
  const [[duckDb] = []] = (await connection.runAndReadAll('SELECT version()')).getRowsJS();
  const baselines = await Promise.all(BASELINES.map(async (name) => `${name} ${await versionOf(name)}`));
  const [{ model } = { model: 'unknown' }] = cpus();
  return [
    `- Command: \`npm run bench\`, ${new Date().toISOString().slice(0, 10)}`,
    `- Machine: ${cpus().length} cores (${model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB, ${operatingSystem()}`,
    `- Versions: Node.js ${process.version.slice(1)}, DuckDB ${String(duckDb).slice(1)}, ${baselines.join(', ')}`,
  ].join('\n');
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !BENCHMARKS.includes(name));
if (unknown.length > 0) throw new Error(`No benchmark ${unknown}; there are ${BENCHMARKS.join(', ')}`);

const sections: Section[] = [];
for (const name of asked.length > 0 ? asked : BENCHMARKS) sections.push(await measured(name));
if (asked.length === 0)
  await writeFile(
    join(root, 'docs', 'benchmarks.md'),
    `${[
      '# Benchmarks',
      'What a user feels, each figure beside what they would use instead, all in one run on one machine. Machines ' +
        'differ and are noisy: what counts are the ratios. Runs took turns, and where they did so in pairs a ratio is the median over the pairs. ' +
        'This page is written by the command below; the notes under the tables stand in `bench/`.',
      await setting(),
      renderSummary(sections),
      ...sections.map(renderSection),
    ].join('\n\n')}\n`,
  );
