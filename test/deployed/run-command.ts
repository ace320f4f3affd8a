import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface CommandResult {
  readonly code: number | null;
  /** All that the command wrote to stdout, followed by all that it wrote to stderr. */
  readonly output: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a command to its end. Rejects if there is no such command. */
export async function runCommand(
  command: string,
  parameters: readonly string[],
  { cwd, env = process.env }: CommandOptions = {},
): Promise<CommandResult> {
  const child = spawn(command, parameters, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve)),
  ]);
  return { code, output: stdout + stderr };
}
