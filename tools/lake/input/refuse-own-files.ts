import { resolve } from 'node:path';
import { dayFolder } from '../../../lake-check/layout.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import type { Staged } from '../convert/stage.ts';
import { isBucket } from '../store/bucket.ts';
import type { InputFile } from './input-files.ts';

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
