import type { Report } from '../lib/report/catalogue.ts';
import type { Table } from '../lib/report/tables.ts';

/** One file or object of a lake, before anything in it is read. */
export interface ListedFile {
  /** From the lake's root, with slashes: `publisher_events/day=2026-01-31/a.parquet`. */
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Equal for equal content, where the store tells: an ETag. */
  readonly digest?: string;
  /** Changes whenever the file changes. Only files in folders have one. */
  readonly stamp?: string;
  /** Why it can't be read: a file, a whole folder, or the records of a file. */
  readonly unreadable?: string;
}

/** A column's statistics from the footer, one value a row group; undefined where the footer has none. */
export interface ColumnStatistics {
  readonly min: readonly (string | undefined)[];
  readonly max: readonly (string | undefined)[];
  readonly nulls: readonly (number | undefined)[];
}

/** What a Parquet file says of itself in its footer. */
export interface Footer {
  /** DuckDB's name for the type of each column, by the column's name in lower case. */
  readonly types: ReadonlyMap<string, string>;
  /** Names that the file holds more than once. Case does not count, as in Athena. */
  readonly doubledNames: readonly string[];
  readonly rows: number;
  readonly rowGroupRows: readonly number[];
  readonly compression: readonly string[];
  /** Of the time, the measures and the company. */
  readonly statistics: ReadonlyMap<string, ColumnStatistics>;
}

/** Numbers of a file's records with some property. To get them, every record is read. */
export interface ValueFacts {
  readonly withoutTime: number;
  readonly outsideDay: number;
  /** Finer than a millisecond, and so late in an hour that Athena rounds them into the next. */
  readonly roundedIntoNextHour: number;
  readonly withoutCompany: number;
  /** By column. */
  readonly negative: ReadonlyMap<string, number>;
  readonly totals: ReadonlyMap<string, bigint>;
  /** Records of the coarser level that count something which no report by the finer dimension shows. */
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
  /** When `_SUCCESS` was written, if it is there: the day is final. */
  readonly succeededAt?: number;
}

export interface TableFacts {
  readonly table: Table;
  readonly report: Report;
  /** Whether there is anything of that name. */
  readonly exists: boolean;
  readonly isFile: boolean;
  /** Days with data, in order. */
  readonly days: readonly DayFacts[];
  /** Files that lie where no engine looks for them. */
  readonly strays: readonly ListedFile[];
  /** Files whose name, or whose folder's name, begins with `_` or `.`: the engines leave them out. */
  readonly hidden: readonly ListedFile[];
  /** How many companies there are, once every record has been read. */
  readonly companies?: number;
}

export interface LakeFacts {
  /** As the operator wrote it. */
  readonly location: string;
  /** Files and folders of the tables that can't even be listed or opened: they belong to no day. */
  readonly unreadable: readonly ListedFile[];
  /** What lies beside the tables. */
  readonly others: readonly string[];
  readonly tables: readonly TableFacts[];
  /** The present UTC day: Athena reads none after it. */
  readonly today: string;
}

export const filesOf = ({ days }: TableFacts): FileFacts[] => days.flatMap(({ files }) => files);
