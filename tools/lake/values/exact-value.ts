/** SQL that is computed once for each record. Later SQL can use the result by its name. */
export interface Step {
  readonly name: string;
  readonly sql: string;
}

/** A change that is only reported, such as `7 amounts were rounded`: the thing, which of them, and what was done. */
export type Change = readonly [thing: string, which: string, done: string];

/** A change of values in a column of one file. */
export interface ValueChange {
  readonly says: Change;
  readonly count: number;
  /** What rounding added to all values together, and to one at most, in units of 10⁻²⁴. */
  readonly added?: bigint;
  readonly most?: bigint;
  /** The earliest and the latest of the converted times. */
  readonly range?: readonly [string, string];
}

/** What is said about a value: why it is lost, for which an example of it may be needed, or how it was changed. */
export type Note = readonly [when: string, says: string | ((example: string) => string) | Change];

/** SQL that converts a value of a file exactly to a column of the contract. */
export interface ExactValue {
  /** The steps, in order. Each step may use the steps before it. */
  readonly steps: readonly Step[];
  /** SQL for the converted value. NULL if the file has no value, or a value that can't be converted. */
  readonly value: string;
  /** SQL that is true if the file has a value. If `value` is then NULL, the value is lost. */
  readonly isThere: string;
  /** SQL that is true if the value was changed in a way that has a note. */
  readonly isChanged?: string | undefined;
  /** SQL for what rounding added to the value, a BIGINT in units of 10⁻²⁴. */
  readonly added?: string | undefined;
  /** SQL for the value that a message shows. */
  readonly shown: string;
  /** What is said about a lost or changed value. The first note whose condition holds counts. */
  readonly notes: readonly Note[];
}

/** The value of a column that needs no steps. */
export const plainValue = (x: string, value: string, notes: readonly Note[]): ExactValue => ({
  ...{ steps: [], value, isThere: `${x} IS NOT NULL`, shown: x, notes },
});

export const isInteger = (type: string): boolean => /^U?(TINY|SMALL|BIG)?INT(EGER)?$/.test(type);

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

const READ_AS_MISSING: Change = ['value', ' such as NaN, NULL or \\N', 'read as missing'];

export const INFINITE = 'is infinite. Correct it at the source';

/** The separators between digits. The quote is doubled, for SQL. */
const SEPARATORS = ",.''’_ \u00a0\u202f";

/** What is said of a text that is no number, with the cure. The last note applies to every text. */
export const textNotes = (x: string): Note[] => [
  [saysMissing(x), READ_AS_MISSING],
  [`regexp_full_match(trim(${x}), '(?i)[+-]?inf(inity)?')`, INFINITE],
  [
    `contains(${x}, '%')`,
    'is a percentage. Percentages can not be summed: write the number that was divided, or leave the column out and name it with --without',
  ],
  [
    `regexp_matches(${x}, '\\p{Sc}') OR regexp_full_match(trim(${x}), '[A-Z]{3} ?[0-9].*|.*[0-9] ?[A-Z]{3}')`,
    'has a currency. Write the number alone; all amounts are of one currency',
  ],
  [
    `regexp_full_match(trim(${x}), '\\([0-9].*\\)|[0-9].*-')`,
    'is written as a bookkeeper writes less than 0. Write the sign in front: -12.5',
  ],
  [
    `regexp_full_match(trim(${x}), '[+-]?[0-9${SEPARATORS}]*[0-9][0-9${SEPARATORS}]*')`,
    (example) => `has separators between its digits, or a comma for a point. ${withoutSeparators(example)}`,
  ],
  ['true', 'is no number. Write digits with a point, like 1234.5, or leave it empty'],
];

/** Says how to write a number that has separators. For `1.234,50`, for example, it says `Write 1234.50`. */
function withoutSeparators(example: string): string {
  const number = example.replaceAll(/[^0-9.,+-]/g, '');
  const last = Math.max(number.lastIndexOf(','), number.lastIndexOf('.'));
  const mark = number[last];
  const whole = number.replaceAll(/[.,]/g, '');
  if (!mark || number.indexOf(mark) !== last) return `Write ${whole}`;
  const point = `${number.slice(0, last).replaceAll(/[.,]/g, '')}.${number.slice(last + 1)}`;
  const isAlone = number.length === example.trim().length;
  const canBeThousands = isAlone && /^[+-]?[0-9]{1,3},[0-9]{3}$/.test(number);
  return canBeThousands ? `Write ${whole} or ${point}, whichever it means` : `Write ${point}`;
}
