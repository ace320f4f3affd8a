/** `npm run lake -- check | convert | hourly | init`: maintains the events that the reports are computed from. */
import { OperatorFault } from '../lib/terminal/operator-fault.ts';
import { checkCommand } from './lake/check.ts';
import { convertCommand } from './lake/convert/convert.ts';
import { hourlyCommand } from './lake/hourly/hourly.ts';
import { initCommand } from './lake/init.ts';
import type { LakeCommand } from './lake/lake-command.ts';

const commands: Readonly<Record<string, LakeCommand>> = {
  check: checkCommand,
  convert: convertCommand,
  hourly: hourlyCommand,
  init: initCommand,
};

const USAGE = Object.values(commands)
  .map(({ usage }) => usage)
  .join('\n');

/** The exit code if the command could not do its work. If it could, but not everything is right, the exit code is 1. */
const NOT_DONE = 2;

/** Runs the command that the arguments name. Resolves to the exit code. */
export async function lakeCommand(
  parameters: readonly string[],
  { out, err }: Readonly<Record<'out' | 'err', (text: string) => void>>,
): Promise<number> {
  if (parameters.includes('--help')) {
    out(USAGE);
    return 0;
  }
  // Options may stand before the command's name.
  const at = parameters.findIndex((parameter) => Object.hasOwn(commands, parameter));
  const command = commands[parameters[at] ?? ''];
  try {
    if (!command) throw new OperatorFault(USAGE);
    return await command.run(parameters.toSpliced(at, 1), out);
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    const isUsage = code?.startsWith('ERR_PARSE_ARGS');
    // The system's message is enough, for example for a full disk or a folder without write permission.
    if (!isUsage && syscall === undefined && !(error instanceof OperatorFault)) throw error;
    err(`${message}\n${isUsage ? `\n${command?.usage ?? USAGE}` : ''}`);
    return NOT_DONE;
  }
}

if (import.meta.main)
  process.exitCode = await lakeCommand(process.argv.slice(2), {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  });
