/** SQL that is computed once for each record, under a name that the SQL after it can use. */
export interface Step {
  readonly name: string;
  readonly sql: string;
}

/** What is said after a count: of one value, and of several. */
interface Words {
  readonly one: string;
  readonly many: string;
}

/** One reason why a value of the file became NULL: a loss, or a change that is only told. */
export type Reason = { readonly when: string } & (
  | { readonly loss: string | ((example: string) => string) }
  | { readonly change: Words }
);

/** What a conversion changes of the values of a column. */
export interface Change {
  readonly words: Words;
  readonly count: number;
  /** What rounding added to them all, in 10⁻²⁴. */
  readonly added?: bigint;
  /** The largest change of one value by rounding, in 10⁻²⁴. */
  readonly most?: bigint;
  /** The first and the last of the new values. */
  readonly range?: readonly [string, string];
}

/** The losses and changes that a tally shows. */
interface Verdict {
  readonly losses?: readonly string[];
  readonly changes?: readonly Change[];
}

export type Aggregate = bigint | string | null;

/** Aggregates over all records of a file, and what they say. */
export interface Tally {
  readonly aggregates: readonly string[];
  readonly tell: (values: readonly Aggregate[]) => Verdict;
}

/** SQL that turns a file's value into the contract's, exactly. */
export interface ExactValue {
  /** Each may use those before it. */
  readonly steps: readonly Step[];
  /** NULL where the file has no value, and where it can't be converted. */
  readonly value: string;
  /** SQL that is true where NULL is a loss. */
  readonly isThere: string;
  /** SQL for the value that a message shows. */
  readonly shown: string;
  /** Why a value that is there became NULL: the first that holds. */
  readonly reasons: readonly Reason[];
  readonly tallies: readonly Tally[];
}

/** The type of the file's column can't be converted; what to do about it. */
export interface NoValue {
  readonly cure: string;
}

export const isInteger = (type: string): boolean => /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type);

/** Parquet's oldest form of times. It has a name of its own, since DuckDB calls it TIMESTAMP. */
export const INT96 = 'INT96';
