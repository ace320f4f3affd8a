import type { Change } from './exact-value.ts';

export interface ColumnChange extends Change {
  readonly column: string;
}

const PLACES = 24;

/** Describes the changes in all files, with one line for each column and kind of change. */
export const tellChanges = (changes: readonly ColumnChange[]): string[] =>
  [...Map.groupBy(changes, ({ column, words }) => `${column} ${words.many}`).values()].map(tell);

function tell(alike: readonly ColumnChange[]): string {
  const [{ column, words } = { column: '', words: { one: '', many: '' } }] = alike;
  const count = alike.reduce((sum, change) => sum + change.count, 0);
  const files = alike.length > 1 ? ` (in ${alike.length.toLocaleString('en-US')} files)` : '';
  const times = alike.flatMap(({ range }) => range ?? []).sort();
  const [first, last] = [times[0], times.at(-1)];
  const span = first === undefined ? '' : first === last ? `: ${first}` : `: ${first} to ${last}`;
  const most = alike.reduce((max, change) => (change.most && change.most > max ? change.most : max), 0n);
  const added = alike.reduce((sum, change) => sum + (change.added ?? 0n), 0n);
  const by =
    most > 0n
      ? `, ${count === 1 ? 'by' : 'each by at most'} ${decimal(most)}; that adds ${decimal(added)} to the sum`
      : '';
  return `${column}: ${count.toLocaleString('en-US')} ${count === 1 ? words.one : words.many}${files}${by}${span}`;
}

/** Writes a number in units of 10⁻²⁴ as a decimal, such as `-0.0000004`. */
function decimal(scaled: bigint): string {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(PLACES + 1, '0');
  const text = `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`.replace(/\.?0+$/, '');
  return scaled < 0n ? `-${text}` : text;
}
