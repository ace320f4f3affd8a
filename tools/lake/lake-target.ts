/** One day of one table, as it is to be. */
interface NewDay {
  readonly table: string;
  readonly day: string;
  /** Files of this machine, and the names that they get. */
  readonly files: readonly { readonly path: string; readonly name: string }[];
  /** Whether the day gets its marker: nothing more will come. */
  readonly isFinal: boolean;
}

/** Where a lake is written. */
export interface LakeTarget {
  /** The days of a table that hold files already. */
  writtenDays(table: string): Promise<Set<string>>;
  /** Replaces all that a day holds. */
  replaceDay(day: NewDay): Promise<void>;
  /** Makes a table that has no records. */
  makeTable(table: string): Promise<void>;
  /** The tables that hold anything. */
  tables(): Promise<Set<string>>;
}

/** A file that marks an empty table, which would otherwise look like a missing one. No engine reads it. */
export const EMPTY_TABLE = '_empty';
