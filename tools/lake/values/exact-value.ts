/** SQL that is computed once for each record. Later SQL can use the result by its name. */
export interface Step {
  readonly name: string;
  readonly sql: string;
}

/** The words after a count, for one value and for several. */
interface Words {
  readonly one: string;
  readonly many: string;
}

/** One reason for a failed check. It is a loss, or a change that is only reported. */
export type Reason = { readonly when: string } & (
  | { readonly loss: string | ((example: string) => string) }
  | { readonly change: Words }
);

/** One kind of change that a conversion makes to values of a column. */
export interface Change {
  readonly words: Words;
  readonly count: number;
  /** What rounding added to all values together, in units of 10⁻²⁴. */
  readonly added?: bigint;
  /** The largest change of one value by rounding, in units of 10⁻²⁴. */
  readonly most?: bigint;
  /** The earliest and the latest of the converted values. */
  readonly range?: readonly [string, string];
}

/** The losses and changes that a tally shows. */
interface Verdict {
  readonly losses?: readonly string[];
  readonly changes?: readonly Change[];
}

export type Aggregate = bigint | string | null;

/** Aggregates over all records of a file, and a function that judges their values. */
export interface Tally {
  readonly aggregates: readonly string[];
  readonly tell: (values: readonly Aggregate[]) => Verdict;
}

/** SQL that converts a value of a file exactly to a column of the contract. */
export interface ExactValue {
  /** The steps, in order. Each step may use the steps before it. */
  readonly steps: readonly Step[];
  /** SQL for the converted value. NULL if the file has no value, or a value that can't be converted. */
  readonly value: string;
  /** SQL that is true if the file has a value. If `value` is then NULL, the value is lost. */
  readonly isThere: string;
  /** SQL for the value that a message shows. */
  readonly shown: string;
  /** The possible reasons why a value of the file became NULL. The first one that applies counts. */
  readonly reasons: readonly Reason[];
  readonly tallies: readonly Tally[];
}

export const isInteger = (type: string): boolean => /^U?(TINY|SMALL|BIG)?INT(EGER)?$/.test(type);

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
