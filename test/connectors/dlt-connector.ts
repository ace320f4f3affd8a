import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pythonWith } from '../clients/python.ts';
import { runInstaller } from '../clients/run-program.ts';

const ROOT = join(import.meta.dirname, '../..');
export const CONNECTOR = join(ROOT, 'connectors/dlt');

/** The pinned packages with which the connector is tested. */
const PINS = ['dlt==1.31.0', 'duckdb==2.0.0', 'pyarrow==26.0.1', 'requests==2.34.2'];
const CHECKER = ['mypy==2.4.1', 'types-requests==2.33.0.20261030'];

/** The shell commands of the connector's page, one for each code block. */
export async function printedCommands(): Promise<readonly string[]> {
  const page = await readFile(join(CONNECTOR, 'README.md'), 'utf8');
  return [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text);
}

/**
 * The path of a Python that has the connector. To install the connector, the first command of its page runs exactly as
 * printed, in a folder with a copy of the connector. It runs again if the command, `pyproject.toml` or a pinned package
 * changes. The connector's modules are always those of this tree, because `PYTHONPATH` comes first.
 */
export async function connectorPython(): Promise<string | undefined> {
  const [install = ''] = await printedCommands();
  const project = await readFile(join(CONNECTOR, 'pyproject.toml'), 'utf8');
  const host = await pythonWith('dlt-connector', [install, project, ...PINS, ...CHECKER], async (bin) => {
    const home = join(bin, '..');
    await cp(CONNECTOR, join(home, 'connectors/dlt'), { recursive: true });
    const pins = join(home, 'pins.txt');
    await writeFile(pins, PINS.join('\n'));
    const env = { PATH: `${bin}:${process.env['PATH']}`, PIP_CONSTRAINT: pins, PIP_QUIET: '1' };
    await runInstaller('sh', ['-ec', install], env, home);
    await runInstaller(pythonOfPage(home), ['-m', 'pip', 'install', '--quiet', ...CHECKER]);
  });
  return host && pythonOfPage(join(host, '../..'));
}

/** The Python in the virtual environment that the page's first command makes. */
const pythonOfPage = (folder: string): string => join(folder, 'reports/bin/python');

export interface Ran {
  readonly code: number;
  readonly output: string;
  /** The number of pulled days, read from the last line that the command prints. */
  readonly pulled: number;
  readonly removed: number;
  readonly bytes: number;
}

type Environment = Readonly<Record<string, string>>;

/** The environment variables for a Python that has the connector. */
export const environmentOf = (python: string, environment: Environment) => ({
  PATH: `${join(python, '..')}:${process.env['PATH']}`,
  HOME: String(process.env['HOME']),
  PYTHONPATH: CONNECTOR,
  PYTHONDONTWRITEBYTECODE: '1',
  ...environment,
});

/** Starts one Python process that can run the command many times. */
export function startConnector(python: string, environment: Environment) {
  const child = spawn(python, [join(import.meta.dirname, 'connector.py')], {
    env: environmentOf(python, environment),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  async function ask<Answer>(does: string, parameters: object): Promise<Answer> {
    child.stdin.write(`${JSON.stringify({ does, with: parameters })}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('the Python process ended');
    const answer = JSON.parse(value) as Answer & { error?: string };
    if (answer.error) throw new Error(answer.error);
    return answer;
  }
  return {
    run: async (argv: readonly string[]) => withNumbers(await ask('run', { argv })),
    /** The rows of a table. Each value is the text that the CSV has for it. */
    rows: (table: { database: string; table: string; fields: readonly string[] }) =>
      ask<string[][]>('rows', table),
    select: (database: string, sql: string) => ask<string[][]>('select', { database, sql }),
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}

function withNumbers(ran: { code: number; output: string }): Ran {
  const [, pulled, removed, bytes] =
    /(\d+) of them pulled, (\d+) removed, (\d+) bytes/.exec(ran.output) ?? [];
  return { ...ran, pulled: Number(pulled), removed: Number(removed), bytes: Number(bytes) };
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Starts a program of this folder, or the command itself, in a new process. */
export const startProgram = (
  python: string,
  environment: Environment,
  program: 'die.py' | 'performance-reports-sync',
  argv: readonly string[],
): Child => {
  const bin = join(python, '..');
  const [command, parameters] = program.endsWith('.py')
    ? [python, [join(import.meta.dirname, program), ...argv]]
    : [join(bin, program), argv];
  return spawn(command, parameters, {
    env: environmentOf(python, environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
};

/** Waits for a program's end; resolves to its exit code or signal, and its whole output. */
export async function endOf(
  child: Child,
): Promise<{ code: number | null; signal: string | null; output: string }> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { code, signal, output };
}
