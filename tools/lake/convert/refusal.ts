import { resolve } from 'node:path';
import { dayFolder } from '../../../lake-check/layout.ts';
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

/**
 * Throws an OperatorFault if records of the target itself were read and would then be in the target twice. That
 * happens if the target lies in a folder that is read. It also happens if a file of the target is read but not
 * replaced, because it holds no record of its folder's day.
 */
export function refuseOwnFiles(
  files: readonly Pick<InputFile, 'name'>[],
  staged: readonly DaysToWrite[],
  { inputs, to }: { readonly inputs: readonly string[]; readonly to: string },
): void {
  const target = placeOf(to);
  const own = files.filter(({ name }) => placeOf(name).startsWith(target));
  if (own.length === 0) return;
  const around = inputs.find((input) => placeOf(input) !== target && target.startsWith(placeOf(input)));
  if (around !== undefined)
    throw new OperatorFault(
      `Nothing was written: ${to} lies in ${around}, so that ${counted(own.length, 'file')} of the lake would be converted too and count twice. ` +
        `Name the files to convert without ${to}, or a lake elsewhere.`,
    );
  const replaced = staged.flatMap(({ table, days }) =>
    days.map(({ day }) => `${target}${dayFolder(table.name, day)}/`),
  );
  const staying = own.find(({ name }) => !replaced.some((day) => placeOf(name).startsWith(day)));
  if (staying)
    throw new OperatorFault(
      `Nothing was written: ${staying.name} is read and lies in ${to}, but holds no record of the day of its folder. It would stay, and its records would count twice. ` +
        'Convert to a lake elsewhere.',
    );
}
