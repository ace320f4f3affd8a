/**
 * `npm run bench` runs every benchmark and puts the goals and tables into docs/benchmarks.md, whose texts are written by
 * hand. `npm run bench -- retyping growth` runs only these two and writes no file. Both print what the benchmarks find.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, type as operatingSystem, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { renderGoals, renderTable, type Section } from './measuring.ts';

const BENCHMARKS = [
  ...['retyping', 'request-overhead', 'repeats', 'cold-start', 'bytes-scanned', 'under-load', 'growth'],
  ...['rush', 'noticed', 'fair-shares', 'convert', 'check'],
];

const root = join(import.meta.dirname, '..');
const pagePath = join(root, 'docs', 'benchmarks.md');

/** Runs one benchmark in a process of its own, so that caches and compilers are not warm from another benchmark. */
async function measured(name: string): Promise<Section> {
  process.stderr.write(`${name} …\n`);
  // All files that a benchmark leaves behind are deleted with this directory, even if the benchmark fails.
  const scratch = await mkdtemp(join(tmpdir(), 'bench-'));
  const part = fork(import.meta.filename, ['--alone', name], {
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
  process.stdout.write(
    `## ${section.title}\n\n${renderTable(section.table)}\n\n${renderGoals([section])}\n\n`,
  );
  return section;
}

async function setting(): Promise<string> {
  const papaparse = JSON.parse(await readFile(join(root, 'node_modules/papaparse/package.json'), 'utf8'));
  const connection = await (await DuckDBInstance.create()).connect();
  const [[duckDb] = []] = (await connection.runAndReadAll('SELECT version()')).getRowsJS();
  const [{ model } = { model: 'unknown' }] = cpus();
  return [
    `- Command: \`npm run bench\`, ${new Date().toISOString().slice(0, 10)}`,
    `- Machine: ${cpus().length} cores (${model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB, ${operatingSystem()}`,
    `- Versions: Node.js ${process.version.slice(1)}, DuckDB ${String(duckDb).slice(1)}, papaparse ${papaparse.version}`,
  ].join('\n');
}

/** Replaces the first block of lines under a heading that begin with `mark`. Throws an Error if there is none. */
function withBlock(page: string, heading: string, mark: string, block: string): string {
  const old = new RegExp(`^(${heading}\\n(?:(?!#).*\\n)*?)(?:${mark}.*\\n)+`, 'm');
  if (!old.test(page)) throw new Error(`docs/benchmarks.md has nothing to replace under "${heading}"`);
  return page.replace(old, (_, before: string) => `${before}${block}\n`);
}

async function writePage(sections: readonly Section[]): Promise<void> {
  let page = withBlock(await readFile(pagePath, 'utf8'), '# Benchmarks', '- ', await setting());
  page = withBlock(page, '# Benchmarks', '\\|', renderGoals(sections));
  for (const { title, table } of sections) page = withBlock(page, `## ${title}`, '\\|', renderTable(table));
  await writeFile(pagePath, page);
}

const [first, ...others] = process.argv.slice(2);
if (first === '--alone') {
  const { measure } = await import(`./${others[0]}.ts`);
  process.send?.(await measure());
} else {
  const names = first === undefined ? BENCHMARKS : [first, ...others];
  const unknown = names.filter((name) => !BENCHMARKS.includes(name));
  if (unknown.length > 0) throw new Error(`No benchmark ${unknown}; there are ${BENCHMARKS.join(', ')}`);
  const sections: Section[] = [];
  for (const name of names) sections.push(await measured(name));
  if (first === undefined) await writePage(sections);
}
