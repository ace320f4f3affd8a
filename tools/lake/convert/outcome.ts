import { shellWord } from '../../../lake-check/commands.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import { windowOf } from '../lake-command.ts';
import { isBucket } from '../store/bucket.ts';
import type { Staged } from './stage.ts';

/** What was written of a table. After sums by the hour, `rows` may be fewer than were read. */
export interface WrittenTable {
  readonly staged: Pick<Staged, 'rows' | 'days' | 'sums'> & { readonly table: { readonly name: string } };
  readonly rows: number;
  readonly openDays: number;
}

/**
 * The text that ends a conversion: what it wrote, the sums, what it changed, and what to do next.
 *
 * @param missing tables that the lake lacks
 */
export function renderOutcome(
  to: string,
  tables: readonly WrittenTable[],
  changes: readonly string[],
  missing: readonly string[],
): string {
  const told = tables.flatMap(({ staged: { table, days, rows, sums }, rows: written, openDays }) => {
    const some = openDays === days.length ? 'open' : `${openDays} of them open, the others final`;
    const window = `${windowOf(days)}, ${openDays === 0 ? 'final' : some}`;
    const summed = written === rows ? '' : `, summed by the hour to ${counted(written, 'record')}`;
    return [
      `${table.name} in ${to}: ${counted(days.length, 'day')} (${window}), ${counted(rows, 'record')}${summed}`,
      // The sums have no commas between digits, so that the operator can search for them in the source.
      `  Sums, which must equal the source's: ${sums.map(([column, total]) => `${column} ${total}`).join(', ')}`,
    ];
  });
  const [first = 'nothing', ...others] = changes;
  const changed = others.length > 0 ? `\n  ${changes.join('\n  ')}` : ` ${first}`;
  return [...told, `Changed on the way:${changed}`, `Next: ${nextSteps(to, missing)}`, ''].join('\n');
}

function nextSteps(to: string, missing: readonly string[]): string {
  const lake = shellWord(to);
  const check = `npm run lake -- check ${lake}`;
  if (missing.length > 0)
    return `npm run lake -- init ${lake} makes ${missing.join(' and ')} empty, which the lake lacks; then ${check}`;
  return isBucket(to) ? check : `${check}, then EVENTS_DIR=${lake} npm start`;
}
