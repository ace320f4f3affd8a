import type { ChartAxis, ChartData } from './chart-data.ts';
import type { Cell } from './read-csv.ts';

/** A column of the table that people see: a column of the file, a ratio, or a column of a comparison. */
export interface TableColumn {
  /** Unique: `Clicks`, `CTR`, `Clicks before`, `Clicks change`, `Clicks change %`. */
  readonly id: string;
  readonly kind: 'dimension' | 'metric' | 'ratio' | 'before' | 'change' | 'percent';
  /** The name of the field or ratio that the column shows. */
  readonly of: string;
}

/**
 * One value: the digits or the text as in the file. Null if the value is not known or does not exist (a zero
 * denominator). Undefined if the value's period has no such row; this happens only in a comparison.
 */
export type ShownCell = Cell | undefined;

/** Which rows the table shows, and their order. */
export interface View {
  /** The order; `column` is a column's id. Absent for the file's order. */
  readonly sort?: { readonly column: string; readonly isDescending: boolean };
  /** A text that at least one dimension of each row must contain; empty for all rows. */
  readonly search: string;
  /** The number of rows to show, from the first sorted row; absent for all. */
  readonly top?: number;
}

export interface ViewResult {
  readonly view: View;
  readonly rowCount: number;
  /** The totals of the rows in view, one for each column; null for dimensions. */
  readonly totals: readonly ShownCell[];
}

/**
 * An exact total of the whole file. Only a comparison has `before`, `change` and `percent`. Each is null if the
 * period before has no rows, or if it needs a division by zero.
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

/** What the user wants a chart to show. What is absent, or not in the report, is chosen by the reader. */
export interface ChartQuestion {
  /** A metric or a ratio; absent for the first metric. */
  readonly metric?: string | undefined;
  /** The dimension to split by; null for no split, absent for the default one. */
  readonly by?: string | null | undefined;
  /** Absent for the times of the report. */
  readonly axis?: ChartAxis | undefined;
}

/** How the answer is looked at: the rows of the table, and the chart. */
export interface Look {
  readonly view: View;
  readonly chart: ChartQuestion;
}

/** A dimension that a chart can be split by. */
export interface Split {
  readonly name: string;
  /** The number of values in the file, "not known" included. */
  readonly valueCount: number;
}

/** The requests of the page to the reader (the worker): first for a report, then for charts and rows of that report. */
export type ReaderRequest =
  | {
      readonly kind: 'read';
      readonly url: string;
      readonly token: string;
      readonly report: string;
      readonly fields: readonly string[];
      /** What the first answer shows. A column, metric or split that the report does not have is ignored. */
      readonly look: Look;
      /**
       * The same question over earlier days. `daysLater` maps each of these days to the day that is compared with it.
       */
      readonly before?: { readonly url: string; readonly daysLater: ReadonlyMap<string, string> };
    }
  | { readonly kind: 'chart'; readonly question: ChartQuestion }
  | { readonly kind: 'view'; readonly view: View }
  /** Some rows of the newest view: from `from` up to, but not including, `to`. */
  | { readonly kind: 'rows'; readonly from: number; readonly to: number }
  /** The newest view as a spreadsheet; `facts` are the lines of its second sheet. */
  | {
      readonly kind: 'spreadsheet';
      readonly facts: readonly (readonly [name: string, value: string])[];
      readonly fileName: string;
    };

/** If the service says when to ask again, the page asks again by itself this many times. */
export const MAX_RETRIES = 3;

/** A problem document of the service. If an answer has none, the page's own words in the same form. */
export interface ReportProblem {
  readonly title: string;
  readonly detail: string;
  readonly status?: number;
  readonly instance?: string;
  /** How long the service asks to wait before the next request, in seconds. */
  readonly retryAfterSeconds?: number;
  readonly errors?: readonly { readonly parameter: string; readonly detail: string }[];
}

/** The progress of reading a report. In a comparison, it counts both files together until the reading is done. */
export interface Reading {
  readonly rowCount: number;
  readonly bytes: number;
  /** The size of the whole file, if the download store reports it. */
  readonly totalBytes?: number;
}

/** The table as a file for spreadsheets. */
export interface Spreadsheet {
  /** Absent if the view has more rows than a sheet can hold. */
  readonly file?: Blob;
  /** How many numbers are texts, because a spreadsheet would round them. */
  readonly textNumbers: number;
}

/** The messages of the reader (the worker) to the page. */
export type ReaderAnswer =
  | { readonly kind: 'began' }
  /** The file's first rows as they arrive; then none, but the progress of the reading. */
  | { readonly kind: 'rows'; readonly rows: readonly (readonly Cell[])[]; readonly reading: Reading }
  | {
      readonly kind: 'done';
      /** The progress of the report's own file, also in a comparison. */
      readonly reading: Reading;
      readonly file: Blob;
      readonly columns: readonly TableColumn[];
      /** The number of rows in the table. In a comparison, this includes rows that only the period before has. */
      readonly tableRows: number;
      readonly totals: readonly Total[];
      readonly splits: readonly Split[];
      /** The axes that a chart of the report can have. */
      readonly axes: readonly ChartAxis[];
      /** The chart, if the report has a metric. */
      readonly chart?: ChartData;
      readonly view: ViewResult;
    }
  | { readonly kind: 'view'; readonly result: ViewResult }
  | {
      readonly kind: 'view-rows';
      readonly view: View;
      readonly from: number;
      readonly rows: readonly (readonly ShownCell[])[];
    }
  | { readonly kind: 'chart'; readonly chart?: ChartData }
  | ({ readonly kind: 'spreadsheet'; readonly fileName: string } & Spreadsheet)
  /** The file is too large to read. The user can download it at this URL for some minutes. */
  | { readonly kind: 'too-large'; readonly reading: Reading; readonly downloadUrl: string }
  | { readonly kind: 'failed'; readonly problem: ReportProblem; readonly isBefore?: true };
