import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The most output of a program, in bytes. Some code generators print the whole text that they can't read. */
const MAX_OUTPUT_BYTES = 64 * 2 ** 20;

/** Runs a program and resolves to its output. Rejects with its whole output if the program fails. */
export async function runProgram(
  command: string,
  parameters: readonly string[],
  options: { cwd?: string; env?: Readonly<Record<string, string>>; timeout?: number } = {},
): Promise<string> {
  const { cwd, env = {}, timeout = 0 } = options;
  try {
    const { stdout } = await run(command, parameters, {
      maxBuffer: MAX_OUTPUT_BYTES,
      timeout,
      ...(cwd && { cwd }),
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    });
    return stdout;
  } catch (error) {
    // Compilers report faults on their standard output.
    throw new Error(
      `${error instanceof Error ? error.message : error}\n${(error as { stdout?: string }).stdout}`,
    );
  }
}

/** The most time for an installer: some installers wait for ever if they can't reach their registry. */
const INSTALL_MS = 240_000;

/** Fetches a tool with a command. The command gets the whole environment, which may name proxies and certificates. */
export const runInstaller = (
  command: string,
  parameters: readonly string[],
  env = {},
  cwd = '.',
): Promise<string> =>
  runProgram(command, parameters, {
    cwd,
    env: { ...(process.env as Record<string, string>), ...env },
    timeout: INSTALL_MS,
  });

/** Installs npm packages into the `node_modules` of the directory. */
export const npmInstall = (directory: string, packages: readonly string[]): Promise<string> => {
  const quiet = ['--no-fund', '--no-audit', '--loglevel=error', '--logs-max=0', '--fetch-retries=1'];
  return runInstaller('npm', ['install', '--prefix', directory, ...quiet, ...packages]);
};

const asked = new Map<string, Promise<boolean>>();

/**
 * Whether this command succeeds, and so whether the machine has the program or system library that it needs. If not,
 * prints one line, so that a reader notices the skipped tests. Give it only commands that download nothing: if a
 * download fails, the test must fail, and must not be skipped.
 */
export function isHere(command: string, ...parameters: string[]): Promise<boolean> {
  const line = [command, ...parameters].join(' ');
  const answer =
    asked.get(line) ??
    runProgram(command, parameters).then(
      () => true,
      () => {
        process.stdout.write(`NOT RUN: \`${line}\` fails on this machine; what needs it is left out.\n`);
        return false;
      },
    );
  asked.set(line, answer);
  return answer;
}
