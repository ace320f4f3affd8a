import type { ChartData } from './chart-data.ts';
import type { Cell } from './read-csv.ts';

/** A column of the table that people see: the file's own, a ratio, or one of a comparison. */
export interface TableColumn {
  /** Unique: `Clicks`, `CTR`, `Clicks before`, `Clicks change`, `Clicks change %`. */
  readonly id: string;
  readonly kind: 'dimension' | 'metric' | 'ratio' | 'before' | 'change' | 'percent';
  /** The name of the field, or of the ratio, that it shows. */
  readonly of: string;
}

/**
 * One value, the digits or the text as in the file. Null where it is not known or has no value (a zero denominator);
 * undefined where that side of a comparison has no such row.
 */
export type ShownCell = Cell | undefined;

/** Which rows the table shows, in which order. */
export interface View {
  /** By a column's id. */
  readonly sort?: { readonly column: string; readonly isDescending: boolean };
  /** What some dimension of a row must hold; empty for all rows. */
  readonly search: string;
  /** How many of the sorted rows are shown, from the first on; absent for all. */
  readonly top?: number;
}

export interface ViewResult {
  readonly view: View;
  readonly rowCount: number;
  /** Of the rows in view, one per column; null for dimensions. */
  readonly totals: readonly ShownCell[];
}

/**
 * A total of the whole file, exact. The period before is there only in a comparison: null where it has no rows, or a
 * ratio no value.
 */
export interface Total {
  /** The metric's or the ratio's name. */
  readonly of: string;
  readonly kind: 'metric' | 'ratio';
  readonly sum: string | null;
  readonly before?: string | null;
  readonly change?: string | null;
  readonly percent?: string | null;
}

export interface ChartQuestion {
  /** A metric or a ratio. */
  readonly metric: string;
  /** The dimension to split by; null for no split, absent for the default one. */
  readonly by?: string | null;
}

/** A dimension that a chart can be split by. */
export interface Split {
  readonly name: string;
  /** How many values the file has, "not known" among them. */
  readonly valueCount: number;
}

/** What the page asks of the reader: first a report, then charts and rows of it. */
export type ReaderRequest =
  | {
      readonly kind: 'read';
      readonly url: string;
      readonly token: string;
      readonly report: string;
      readonly fields: readonly string[];
      /** The same question over other days. `daysLater` has, for each of them, the day that it is compared with. */
      readonly before?: { readonly url: string; readonly daysLater: ReadonlyMap<string, string> };
    }
  | { readonly kind: 'chart'; readonly question: ChartQuestion }
  | { readonly kind: 'view'; readonly view: View }
  /** Rows of the newest view, `to` not among them. */
  | { readonly kind: 'rows'; readonly from: number; readonly to: number };

/** A problem document of the service or, where an answer has none, the page's own words in its shape. */
export interface ReportProblem {
  readonly title: string;
  readonly detail: string;
  readonly status?: number;
  readonly instance?: string;
  readonly errors?: readonly { readonly parameter: string; readonly detail: string }[];
}

/** How far a report has been read. In a comparison, both files together until it is done. */
export interface Reading {
  readonly rowCount: number;
  readonly bytes: number;
  /** Of the whole file, where the store says it. */
  readonly totalBytes?: number;
}

/** What the reader tells the page. */
export type ReaderAnswer =
  | { readonly kind: 'began'; readonly fileName: string }
  /** The file's first rows as they come, with the file's own columns. */
  | { readonly kind: 'rows'; readonly rows: readonly (readonly Cell[])[]; readonly reading: Reading }
  | { readonly kind: 'progress'; readonly reading: Reading }
  | {
      readonly kind: 'done';
      /** Of the report itself, also in a comparison. */
      readonly reading: Reading;
      readonly file: Blob;
      readonly columns: readonly TableColumn[];
      readonly totals: readonly Total[];
      readonly splits: readonly Split[];
      /** Of the first metric, if there is one. */
      readonly chart?: ChartData;
      /** All rows, in the file's order. */
      readonly view: ViewResult;
    }
  | { readonly kind: 'view'; readonly result: ViewResult }
  | {
      readonly kind: 'view-rows';
      readonly view: View;
      readonly from: number;
      readonly rows: readonly (readonly ShownCell[])[];
    }
  | { readonly kind: 'chart'; readonly chart: ChartData }
  /** Too large to read here: the file can be had at this URL, for some minutes. */
  | { readonly kind: 'too-large'; readonly reading: Reading; readonly downloadUrl: string }
  | { readonly kind: 'failed'; readonly problem: ReportProblem; readonly isBefore?: true };
