// An older Node.js can't tell which file was started, so a command would do nothing, without a word.
if (process.versions.node.localeCompare('24.4', 'en', { numeric: true }) < 0) {
  process.stderr.write(`This takes Node.js 24.4 or later, and here is ${process.versions.node}.\n`);
  process.exit(1);
}

/** An error that the person at the terminal must fix. Its message says what is wrong and what to do. */
export class OperatorFault extends Error {
  override readonly name: string = 'OperatorFault';
}

/** Runs `act`, and puts the setting's name before the message of an OperatorFault. */
export async function aboutSetting<T>(setting: string, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof OperatorFault)) throw error;
    throw new OperatorFault(`${setting}: ${error.message}`);
  }
}

/** If the operator has made a mistake or AWS refuses a call, prints one line and sets exit code 1. */
export async function reportingFaults(command: () => Promise<void>): Promise<void> {
  // If nobody reads the output any more, as after `| head`, the command still finishes its work. `npm start` has said
  // itself what it does then.
  if (process.stdout.listenerCount('error') === 0)
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  try {
    await command();
  } catch (error) {
    const line = faultLine(error);
    if (line === undefined) throw error;
    process.stderr.write(`${line.split('\n').map(printable).join('\n')}\n`);
    process.exitCode = 1;
  }
}

export const say = (...lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${printable(line)}\n`).join(''));

/**
 * A line for the terminal. Callers, partners and servers write parts of it: characters that move the cursor, change the
 * colours or turn the direction of writing are replaced by their codes.
 */
export const printable = (line: string): string =>
  line.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);

/** The line that the operator reads for an error; undefined if the error is a bug of the command. */
export function faultLine(error: unknown): string | undefined {
  if (error instanceof OperatorFault) return error.message;
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'CredentialsProviderError')
    return 'There are no AWS credentials. Sign in first: `aws sts get-caller-identity` must answer.';
  if (error.message === 'Region is missing') return 'There is no AWS region. Set AWS_REGION.';
  if ('code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')) return firstLine(error.message);
  if ('$metadata' in error)
    return `AWS refused: ${error.name}: ${firstLine(error.message)}. Repeating the command finishes what is half done.`;
  return undefined;
}

const firstLine = (text: string): string => text.split('\n')[0]?.replace(/\.$/, '') ?? '';
