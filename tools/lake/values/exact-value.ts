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

/** The type of the file's column can't be converted. `cure` says what to do. */
export interface NoValue {
  readonly cure: string;
}

export const isInteger = (type: string): boolean => /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type);

/** The name for Parquet's oldest form of times, which DuckDB shows as TIMESTAMP. */
export const INT96 = 'INT96';
