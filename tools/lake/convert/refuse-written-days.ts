import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
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
