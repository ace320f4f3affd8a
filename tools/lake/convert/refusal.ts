import { resolve } from 'node:path';
import { counted } from '../../../lib/terminal/counted.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import type { InputFile } from '../input/input-files.ts';
import { isBucket } from '../store/bucket.ts';
import type { LakeTarget } from '../store/lake-target.ts';

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

/** How far a conversion had come when it failed. */
interface Reached {
  readonly to: string;
  readonly daysWritten: number;
  readonly days: number;
}

/**
 * The message for a conversion that failed half-way. DuckDB has no error classes, so its messages are matched. An
 * unknown error stays as it is.
 */
export function conversionFault(error: Error, { to, daysWritten, days }: Reached): Error {
  // While the files are still being read (`days` is 0), an OperatorFault's message is complete.
  if (days === 0 && error instanceof OperatorFault) return error;
  const cause = causeOf(error, to);
  if (!cause) return error;
  if (days === 0) return new OperatorFault(`Nothing was written. ${cause} Then run the same command again.`);
  const again = daysWritten > 0 || to.startsWith('s3://') ? ' with --replace' : '';
  return new OperatorFault(
    `${cause}\n${daysWritten} of ${days} days are written, each of them whole. When the cause is mended, run the same command again${again}.`,
  );
}

function causeOf(error: Error, to: string): string | undefined {
  const { message } = error;
  if (error instanceof OperatorFault) return message;
  if (/no space left|ENOSPC|disk quota|EDQUOT|max_temp_directory_size/i.test(message))
    return to.startsWith('s3://')
      ? "The disk of this machine is full: unfinished files lie in the system's temporary directory. Make room there, or set TMPDIR to a folder with more."
      : `The disk that holds ${to} is full. Unfinished files lie there too and need about twice the room of the converted files. Make room.`;
  if (/^Out of Memory Error/i.test(message))
    return 'The memory that this may use is too little. Say a larger --memory.';
  return undefined;
}

const SHOWN = 5;

/** The days of a table that are to be written. */
interface DaysToWrite {
  readonly table: { readonly name: string };
  readonly days: readonly { readonly day: string }[];
}

/** Throws an OperatorFault if a day that is to be written holds files already, unless `replace` is set. */
export async function refuseWrittenDays(
  target: LakeTarget,
  staged: readonly DaysToWrite[],
  { replace, to }: { readonly replace: boolean; readonly to: string },
): Promise<void> {
  const written: string[] = [];
  for (const { table, days } of staged) {
    const there = await target.writtenDays(table.name);
    written.push(...days.filter(({ day }) => there.has(day)).map(({ day }) => `${table.name} ${day}`));
  }
  if (written.length === 0 || replace) return;
  const more = written.length > SHOWN ? ` and ${written.length - SHOWN} more` : '';
  throw new OperatorFault(
    `Nothing was written: ${to} holds files of these days: ${written.slice(0, SHOWN).join(', ')}${more}. ` +
      'Say --replace if the converted files hold all that the days should hold.',
  );
}

/** The absolute location of a file or a lake, with a slash at its end. */
const placeOf = (location: string): string =>
  `${isBucket(location) ? location.replace(/\/+$/, '') : resolve(location).replace(/\/$/, '')}/`;

/** Throws an OperatorFault if files of the lake that is written are read: their records would be in it twice. */
export function refuseOwnFiles(files: readonly Pick<InputFile, 'name'>[], to: string): void {
  const own = files.find(({ name }) => placeOf(name).startsWith(placeOf(to)));
  if (own)
    throw new OperatorFault(
      `Nothing was written: ${own.name} is read and lies in ${to}, so that its records could count twice. Convert to a lake elsewhere, or name the files without those in ${to}.`,
    );
}
