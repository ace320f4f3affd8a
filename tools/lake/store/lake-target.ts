import type { DayFile } from '../write-day.ts';

/** One day of one table, as it is to be. */
interface NewDay {
  readonly table: string;
  readonly day: string;
  readonly files: readonly DayFile[];
  /** The content of the day's marker. Without it the day is left open. */
  readonly marker?: string;
}

/** Where a lake is written. */
export interface LakeTarget {
  /** The days of a table that hold files already. */
  writtenDays(table: string): Promise<Set<string>>;
  /** Replaces everything in a day. The files may be moved, not copied. */
  replaceDay(day: NewDay): Promise<void>;
  /** Makes a table that has no records. */
  makeTable(table: string): Promise<void>;
  /** The tables that hold anything. */
  tables(): Promise<Set<string>>;
}

/** A file that marks an empty table, which would otherwise look like a missing one. No engine reads it. */
export const EMPTY_TABLE = '_empty';
