import type { Report } from '../lib/report/catalogue.ts';
import type { Table } from '../lib/report/tables.ts';

/** One file or object of a lake, before anything in it is read. */
export interface ListedFile {
  /** The path from the lake's root, with slashes: `publisher_events/day=2026-01-31/a.parquet`. */
  readonly path: string;
  readonly size: number;
  /** The time of the last change, in milliseconds since 1970. */
  readonly modifiedAt: number;
  /**
   * Files with equal digests have equal content. Every file in a bucket has one. In a folder, only files that have the
   * size of another file of their day have one.
   */
  readonly digest?: string;
  /** Changes whenever the file changes. Only files on this machine's disk have a stamp. */
  readonly stamp?: string;
  /** The reason why the file, the whole folder, or the records of the file can't be read. */
  readonly unreadable?: string;
}

/** A column's statistics from the footer, one value for each row group. A value that the footer lacks is undefined. */
export interface ColumnStatistics {
  readonly min: readonly (string | undefined)[];
  readonly max: readonly (string | undefined)[];
  readonly nulls: readonly (number | undefined)[];
}

/** The facts in a Parquet file's footer. */
export interface Footer {
  /** DuckDB's name for the type of each column, by the column's name in lower case. */
  readonly types: ReadonlyMap<string, string>;
  /** Names that the file holds more than once. Case does not count, as in Athena. */
  readonly doubledNames: readonly string[];
  readonly rows: number;
  readonly rowGroupRows: readonly number[];
  readonly compression: readonly string[];
  /** The statistics of the time, the measures and the company, by column. */
  readonly statistics: ReadonlyMap<string, ColumnStatistics>;
}

/** Figures about a file's records. To get them, every record is read. */
export interface ValueFacts {
  readonly withoutTime: number;
  readonly outsideDay: number;
  /** Records whose time Athena rounds up to the next hour: at most half a millisecond is left of the hour. */
  readonly roundedIntoNextHour: number;
  readonly withoutCompany: number;
  /** The number of negative values, by column. */
  readonly negative: ReadonlyMap<string, number>;
  readonly totals: ReadonlyMap<string, bigint>;
  /** Records of the coarser level with a value of another metric. Reports by the finer dimension lack this value. */
  readonly coarserWithOthers: number;
  /** Records of the coarser level that count in the finer level's column. */
  readonly coarserWithFiner: number;
  /** Records of the finer level that count in the coarser level's column. */
  readonly finerWithCoarser: number;
}

/** A file that Athena reads as data. */
export interface FileFacts extends ListedFile {
  readonly footer?: Footer;
  readonly values?: ValueFacts;
}

export interface DayFacts {
  /** `2026-01-31` */
  readonly day: string;
  readonly files: readonly FileFacts[];
  /** When `_SUCCESS` was written, if it exists. With this marker, the day is final. */
  readonly succeededAt?: number;
}

export interface TableFacts {
  readonly table: Table;
  readonly report: Report;
  /** Whether the lake holds anything in the table's folder. */
  readonly exists: boolean;
  readonly isFile: boolean;
  /** Days with data, in order. */
  readonly days: readonly DayFacts[];
  /** Files in places where no engine looks for them. */
  readonly strays: readonly ListedFile[];
  /** Files whose name, or whose folder's name, begins with `_` or `.`: the engines leave them out. */
  readonly hidden: readonly ListedFile[];
  /** The number of companies. It is known only after every record has been read. */
  readonly companies?: number;
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
