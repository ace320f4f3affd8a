import type { ChartData } from './chart-data.ts';
import type { Cell } from './read-csv.ts';

/** What the page asks of the reader: first a report, then charts of it. */
export type ReaderRequest =
  | {
      readonly kind: 'read';
      readonly url: string;
      readonly token: string;
      readonly report: string;
      readonly fields: readonly string[];
    }
  | { readonly kind: 'chart'; readonly metric: string };

/** A metric's total, exact, in digits. */
export interface Total {
  readonly metric: string;
  readonly sum: string;
}

/** A problem document of the service or, where an answer has none, the page's own words in its shape. */
export interface ReportProblem {
  readonly title: string;
  readonly detail: string;
  readonly status?: number;
  readonly instance?: string;
  readonly errors?: readonly { readonly parameter: string; readonly detail: string }[];
}

/** How far a report has been read. */
export interface Reading {
  readonly rowCount: number;
  readonly bytes: number;
  /** Of the whole file, where the store says it. */
  readonly totalBytes?: number;
}

/** What the reader tells the page. */
export type ReaderAnswer =
  | { readonly kind: 'began'; readonly fileName: string }
  | { readonly kind: 'rows'; readonly rows: readonly (readonly Cell[])[]; readonly reading: Reading }
  | { readonly kind: 'progress'; readonly reading: Reading }
  | {
      readonly kind: 'done';
      readonly reading: Reading;
      readonly totals: readonly Total[];
      readonly file: Blob;
      readonly chart?: ChartData;
    }
  /** The file is too large to read here: it can be had at this URL, for some minutes. */
  | { readonly kind: 'too-large'; readonly reading: Reading; readonly downloadUrl: string }
  | { readonly kind: 'chart'; readonly chart: ChartData }
  | { readonly kind: 'failed'; readonly problem: ReportProblem };
