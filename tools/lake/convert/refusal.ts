import { counted } from '../../../lib/terminal/counted.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import type { InputFile } from '../input/input-files.ts';
import { isBucket, placeOf } from '../store/bucket.ts';

const MOST_LINES = 50;
const MOST_ALIKE = 3;

/** The part of a fault that differs between files: the number of records that have it, and an example. */
const COUNT_AND_EXAMPLE = /in [\d,]+ records?, (it|"(\\.|[^"\\])*")( for example)? /;

/**
 * A refusal that lists the faults of a conversion, each as `<file>: <fault>`. If many files have the same fault, such
 * as the many part files that Spark writes, only the first few are shown.
 */
export function refusal(faults: readonly string[]): OperatorFault {
  const alike = Map.groupBy(faults, (fault) =>
    fault.slice(fault.indexOf(': ')).replace(COUNT_AND_EXAMPLE, ''),
  );
  const told = [...alike.values()].flatMap((same) => [
    ...same.slice(0, MOST_ALIKE),
    ...(same.length > MOST_ALIKE ? [`and alike in ${counted(same.length - MOST_ALIKE, 'more file')}`] : []),
  ]);
  const shown = told.slice(0, MOST_LINES);
  if (told.length > MOST_LINES) shown.push(`and ${counted(told.length - MOST_LINES, 'line')} more`);
  const count = faults.length === 1 ? 'One thing stands' : `${counted(faults.length, 'thing')} stand`;
  return new OperatorFault(`Nothing was written. ${count} against it:\n  ${shown.join('\n  ')}`);
}

/** How far a conversion had come when it failed. `days` is 0 while the files are still being read. */
type Reached = Readonly<{ to: string; daysWritten: number; days: number }>;

/** The message for a conversion that failed half-way. An unknown error stays as it is. */
export function conversionFault(error: Error, { to, daysWritten, days }: Reached): Error {
  const isTold = error instanceof OperatorFault;
  if (days === 0 && isTold) return error;
  const cause = isTold ? error.message : causeOf(error.message, to);
  if (!cause) return error;
  if (days === 0) return new OperatorFault(`Nothing was written. ${cause} Then run the same command again.`);
  const again = daysWritten > 0 || isBucket(to) ? ' with --replace' : '';
  return new OperatorFault(
    `${cause}\n${daysWritten} of ${days} days are written, each of them whole. When the cause is mended, run the same command again${again}.`,
  );
}

/** DuckDB has no error classes, so its messages are matched. */
const FULL_DISK = /no space left|ENOSPC|disk quota|EDQUOT|max_temp_directory_size/i;
const FULL_MEMORY = /^Out of Memory Error/i;

/** Whether an error of DuckDB is about this machine, not about what was read. */
export const isOfMachine = (message: string): boolean => FULL_DISK.test(message) || FULL_MEMORY.test(message);

function causeOf(message: string, to: string): string | undefined {
  if (FULL_MEMORY.test(message)) return 'The memory that this may use is too little. Say a larger --memory.';
  if (!FULL_DISK.test(message)) return undefined;
  return isBucket(to)
    ? "The disk of this machine is full: unfinished files lie in the system's temporary directory. Make room there, or set TMPDIR to a folder with more."
    : `The disk that holds ${to} is full. Unfinished files lie there too and need about twice the room of the converted files. Make room.`;
}

/** Throws an OperatorFault if files of the lake that is written are read: their records would be in it twice. */
export function refuseOwnFiles(files: readonly Pick<InputFile, 'name'>[], to: string): void {
  const own = files.find(({ name }) => placeOf(name).startsWith(placeOf(to)));
  if (own)
    throw new OperatorFault(
      `Nothing was written: ${own.name} is read and lies in ${to}, so that its records could count twice. Convert to a lake elsewhere, or name the files without those in ${to}.`,
    );
}
