import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Some generators print what they could not read, at length. */
const MAX_OUTPUT_BYTES = 64 * 2 ** 20;

/** Runs a program and resolves to what it printed; rejects with all that it said where it fails. */
export async function runProgram(
  command: string,
  parameters: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const { cwd, env = {} } = options;
  try {
    const { stdout } = await run(command, parameters, {
      maxBuffer: MAX_OUTPUT_BYTES,
      ...(cwd && { cwd }),
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    });
    return stdout;
  } catch (error) {
    // Compilers say on their output what is wrong.
    throw new Error(
      `${error instanceof Error ? error.message : error}\n${(error as { stdout?: string }).stdout}`,
    );
  }
}

/** Runs what fetches a tool: with all of the environment, where proxies and certificates may stand. */
export const runInstaller = (command: string, parameters: readonly string[], env = {}): Promise<string> =>
  runProgram(command, parameters, { env: { ...(process.env as Record<string, string>), ...env } });

/** Whether the machine has it; where not, says so in one line, so that a test left out is seen. */
export async function isHere(command: string, ...parameters: string[]): Promise<boolean> {
  try {
    await runProgram(command, parameters);
    return true;
  } catch {
    process.stdout.write(`NOT RUN: this machine has no ${command}; what it runs is left out.\n`);
    return false;
  }
}
