import type { DayFile } from '../day-file.ts';

/** One day of one table, to be written. */
interface NewDay {
  readonly table: string;
  readonly day: string;
  readonly files: readonly DayFile[];
  /** The text of the day's `_SUCCESS` marker. Without it, no marker is written and the day stays open. */
  readonly marker?: string | undefined;
}

/** A lake that is written. */
export interface LakeTarget {
  /** The days of a table that hold files already. */
  writtenDays(table: string): Promise<Set<string>>;
  /** Replaces everything in a day. It may move the given files instead of copying them. */
  replaceDay(day: NewDay): Promise<void>;
  /** Makes a table that has no records. */
  makeTable(table: string): Promise<void>;
  /** The names of the tables that the lake has. */
  tables(): Promise<Set<string>>;
}

/** A file that marks an empty table, so that the table does not seem to be missing. No engine reads this file. */
export const EMPTY_TABLE = '_empty';
