import { shellWord } from '../../../lake-check/lake-commands.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import type { Staged } from './stage.ts';

/** What a conversion has written of one table. */
interface TableOutcome {
  readonly staged: Pick<Staged, 'rows' | 'days' | 'sums'> & { readonly table: { readonly name: string } };
  /** The number of written records. After sums by the hour, they may be fewer than were read. */
  readonly rows: number;
  readonly openDays: number;
}

export interface Outcome {
  readonly to: string;
  readonly tables: readonly TableOutcome[];
  /** The changes that the conversion made to values, each in words. */
  readonly changes: readonly string[];
  /** Tables that the lake lacks. */
  readonly missing: readonly string[];
}

/** The text that ends a conversion: what it wrote, the sums, what it changed, and what to do next. */
export function renderOutcome({ to, tables, changes, missing }: Outcome): string {
  return `${[
    ...tables.flatMap((table) => [tableText(table, to), sumsText(table)]),
    changesText(changes),
    `Next: ${nextSteps(to, missing)}`,
  ].join('\n')}\n`;
}

function tableText({ staged, rows, openDays }: TableOutcome, to: string): string {
  const { table, days } = staged;
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  const window = first === last ? first : `${first} to ${last}`;
  const states =
    openDays === 0
      ? 'final'
      : openDays === days.length
        ? 'open'
        : `${openDays} of them open, the others final`;
  const summed = rows === staged.rows ? '' : `, summed by the hour to ${counted(rows, 'record')}`;
  return `${table.name} in ${to}: ${counted(days.length, 'day')} (${window}, ${states}), ${counted(staged.rows, 'record')}${summed}`;
}

/** The sums have no commas between digits, so that the operator can search for them in the source. */
const sumsText = ({ staged }: TableOutcome): string =>
  `  Sums, which must equal the source's: ${staged.sums.map(([column, total]) => `${column} ${total}`).join(', ')}`;

function changesText(changes: readonly string[]): string {
  const [first = 'nothing', ...others] = changes;
  const lines = others.length > 0 ? `\n  ${changes.join('\n  ')}` : ` ${first}`;
  return `Changed on the way:${lines}`;
}

function nextSteps(to: string, missing: readonly string[]): string {
  const lake = shellWord(to);
  const check = `npm run lake -- check ${lake}`;
  if (missing.length > 0)
    return `npm run lake -- init ${lake} makes ${missing.join(' and ')} empty, which the lake lacks; then ${check}`;
  return to.startsWith('s3://') ? check : `${check}, then EVENTS_DIR=${lake} npm start`;
}
