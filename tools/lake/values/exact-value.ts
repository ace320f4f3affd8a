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

/** A number of digits with at most one point and without an exponent. */
const PLAIN = '[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)';

/** SQL: whether a text is a number in a form that programs write. */
export const isNumber = (x: string): string =>
  `regexp_full_match(${x}, ' *${PLAIN}([eE][+-]?[0-9]{1,3})? *')`;

/**
 * SQL: the same number as digits with at most one point, for example `0.000076` for `7.6e-05`. NULL if the text is no
 * number. It does not use DuckDB's cast of an exponent, which rounds digits that do not fit.
 */
export const plainNumber = (x: string): string =>
  `CASE WHEN regexp_full_match(${x}, '${PLAIN}') THEN ${x} WHEN ${isNumber(x)} THEN ${expandExponent(`trim(${x})`)} END`;

/**
 * SQL that writes a number with an exponent as plain digits. It pads the digits with zeros on both sides, and moves
 * the point by the exponent.
 */
function expandExponent(x: string): string {
  const mantissa = `ltrim(split_part(lower(${x}), 'e', 1), '+-')`;
  const exponent = `coalesce(TRY_CAST(split_part(lower(${x}), 'e', 2) AS INTEGER), 0)`;
  const zeros = `repeat('0', abs(${exponent}))`;
  const digits = `(${zeros} || replace(${mantissa}, '.', '') || ${zeros})`;
  const point = `(strlen(split_part(${mantissa}, '.', 1)) + abs(${exponent}) + ${exponent})`;
  return `CASE WHEN starts_with(${x}, '-') THEN '-' ELSE '' END || left(${digits}, ${point}) || '.' || substr(${digits}, ${point} + 1)`;
}

/**
 * The words that tools write for a missing number or time: pandas (NaN, NaT, None, <NA>), DuckDB (nan), Spark (NaN,
 * null), MySQL, PostgreSQL and Hive (\N, NULL), R (NA).
 */
const WORDS_FOR_MISSING = ['NaN', 'nan', 'NaT', 'None', '<NA>', 'NA', 'NULL', 'null', '\\N'];

/** SQL: whether a text is a word for a missing value. */
export const saysMissing = (x: string): string =>
  `trim(${x}) IN (${WORDS_FOR_MISSING.map((word) => `'${word}'`).join(', ')})`;

export const READ_AS_MISSING = {
  one: 'value such as NaN, NULL or \\N was read as missing',
  many: 'values such as NaN, NULL or \\N were read as missing',
};

/** The separators between digits. The quote is doubled, for SQL. */
const SEPARATORS = ",.''’_ \u00a0\u202f";

/** The reasons why a text is no number, each with its cure. The last reason applies to every text. */
export const numberFaults = (x: string): Reason[] => [
  {
    when: `regexp_full_match(trim(${x}), '(?i)[+-]?inf(inity)?')`,
    loss: 'is infinite. Correct it at the source',
  },
  {
    when: `contains(${x}, '%')`,
    loss: 'is a percentage. Percentages can not be summed: write the number that was divided, or leave the column out',
  },
  {
    when: `regexp_matches(${x}, '\\p{Sc}') OR regexp_full_match(trim(${x}), '[A-Z]{3} ?[0-9].*|.*[0-9] ?[A-Z]{3}')`,
    loss: 'has a currency. Write the number alone; all amounts are of one currency',
  },
  {
    when: `regexp_full_match(trim(${x}), '\\([0-9].*\\)|[0-9].*-')`,
    loss: 'is written as a bookkeeper writes less than 0. Write the sign in front: -12.5',
  },
  {
    when: `regexp_full_match(trim(${x}), '[+-]?[0-9${SEPARATORS}]*[0-9][0-9${SEPARATORS}]*')`,
    loss: (example) =>
      `has separators between its digits, or a comma for a point. ${withoutSeparators(example)}`,
  },
  { when: 'true', loss: 'is no number. Write digits with a point, like 1234.5, or leave it empty' },
];

/** Says how to write a number that has separators. For `1.234,50`, for example, it says `Write 1234.50`. */
export function withoutSeparators(example: string): string {
  const number = example.replaceAll(/[^0-9.,+-]/g, '');
  const last = Math.max(number.lastIndexOf(','), number.lastIndexOf('.'));
  const mark = number[last];
  const whole = number.replaceAll(/[.,]/g, '');
  if (!mark || number.indexOf(mark) !== last) return `Write ${whole}`;
  const point = `${number.slice(0, last).replaceAll(/[.,]/g, '')}.${number.slice(last + 1)}`;
  const isAlone = !/[.,]/.test(number.slice(0, last)) && number.length === example.trim().length;
  const canBeThousands = mark === ',' && isAlone && /^[+-]?[0-9]{1,3},[0-9]{3}$/.test(number);
  return canBeThousands ? `Write ${whole} or ${point}, whichever it means` : `Write ${point}`;
}
