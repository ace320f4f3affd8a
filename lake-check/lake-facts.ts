import type { Report } from '../lib/report/catalogue.ts';
import type { Table } from '../lib/report/tables.ts';

/** One file or object of a lake, before anything in it is read. */
export interface ListedFile {
  /** The path from the lake's root, with slashes: `publisher_events/day=2026-01-31/a.parquet`. */
  readonly path: string;
  readonly size: number;
  /** The time of the last change, in milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Equal for equal content. In a folder, only files that have the size of another file of their day have one. */
  readonly digest?: string;
  /** Changes whenever the file changes. Only files on this machine's disk have a stamp. */
  readonly stamp?: string;
  /** Why the file or the whole folder can't be opened. */
  readonly unreadable?: string;
}

/** Why a file can't be read at all, or why other values would be read than were written. */
export interface FileFault {
  readonly severity: 'fails' | 'wrong';
  readonly found: string;
  /** Absent if the file has to be written again, or removed. */
  readonly cure?: string;
}

/** A fault in one line. */
export const tellFault = ({ found, cure }: FileFault): string => (cure ? `${found}. ${cure}` : found);

/** A number or a text: decimals without their point, times in microseconds. */
export type Bound = bigint | Buffer;

/** A column's statistics from the footer, one value for each row group. A value that the footer lacks is undefined. */
export interface ColumnStatistics {
  readonly min: readonly (Bound | undefined)[];
  readonly max: readonly (Bound | undefined)[];
  readonly nulls: readonly (number | undefined)[];
}

/** A column's part of a row group. A flat column is no part of a list or a struct: it has one value a record. */
export interface ColumnChunk {
  readonly column: string;
  readonly isFlat: boolean;
  readonly rowGroup: number;
  /** Where its first page begins. */
  readonly start: number;
  readonly values: number;
  /** The column's type in the file's own words, and the number of the codec. */
  readonly words: string;
  readonly codec: number;
}

/** The facts in a Parquet file's footer. */
export interface Footer {
  /** The columns' names as the file writes them. */
  readonly names: readonly string[];
  /** The name of each column's type, as in the table of types, by the column's name in lower case. */
  readonly types: ReadonlyMap<string, string>;
  /** Names that the file holds more than once. Case does not count, as in Athena. */
  readonly doubledNames: readonly string[];
  readonly rows: number;
  readonly rowGroupRows: readonly number[];
  readonly compression: readonly string[];
  readonly chunks: readonly ColumnChunk[];
  /** By the column's name in lower case. */
  readonly statistics: ReadonlyMap<string, ColumnStatistics>;
}

/** Figures about a file's records. To get them, every record is read. */
export interface ValueFacts {
  readonly withoutTime: number;
  readonly outsideDay: number;
  /** Records whose time Athena rounds up to the next hour: at most half a millisecond is left of the hour. */
  readonly roundedIntoNextHour: number;
  readonly withoutCompany: number;
  /** Records of one level with a value in a column of the other level, or of another metric. */
  readonly coarserWithOthers: number;
  readonly coarserWithFiner: number;
  readonly finerWithCoarser: number;
  /** The number of negative values, by column. */
  readonly negative: ReadonlyMap<string, number>;
  /** The totals of the counts that are so large that the totals of a day may not fit. */
  readonly totals: ReadonlyMap<string, bigint>;
  /** What the footer says falsely of a column's values, in words, by column. */
  readonly falseBounds: ReadonlyMap<string, string>;
}

/** A file that Athena reads as data. */
export interface FileFacts extends ListedFile {
  readonly footer?: Footer;
  readonly values?: ValueFacts;
  /** Why the file can't be read, or not rightly. */
  readonly fault?: FileFault;
}

interface DayFacts {
  /** `2026-01-31` */
  readonly day: string;
  readonly files: readonly FileFacts[];
  /** When `_SUCCESS` was written, if it exists. With this marker, the day is final. */
  readonly succeededAt?: number | undefined;
}

export interface TableFacts {
  readonly table: Table;
  readonly report: Report;
  /** Whether the lake holds anything in the table's folder. */
  readonly exists: boolean;
  readonly isFile: boolean;
  /** Days with data, in order. */
  readonly days: readonly DayFacts[];
  /** Files where no engine looks for them. */
  readonly strays: readonly ListedFile[];
  /** Files whose name, or whose folder's name, begins with `_` or `.`: the engines leave them out. */
  readonly hidden: readonly ListedFile[];
}

export interface LakeFacts {
  /** The location as the operator wrote it. */
  readonly location: string;
  /** Unreadable files and folders of the tables: they can't even be listed or opened. They belong to no day. */
  readonly unreadable: readonly ListedFile[];
  /** The names of the files and folders beside the tables. */
  readonly others: readonly string[];
  readonly tables: readonly TableFacts[];
  /** The present UTC day. Athena reads no later day. */
  readonly today: string;
}

export const filesOf = ({ days }: TableFacts): FileFacts[] => days.flatMap(({ files }) => files);
