import { resolve } from 'node:path';
import { dayFolder } from '../../../lake-check/layout.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import type { InputFile } from '../input/input-files.ts';
import { isBucket } from '../store/bucket.ts';
import type { LakeTarget } from '../store/lake-target.ts';
import type { Staged } from './stage.ts';

const SHOWN = 5;

/** Throws an OperatorFault if a day that is to be written holds files already, unless `replace` is set. */
export async function refuseWrittenDays(
  target: LakeTarget,
  staged: readonly Staged[],
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
  staged: readonly Pick<Staged, 'table' | 'days'>[],
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
