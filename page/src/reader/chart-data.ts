import type { Cell } from './read-csv.ts';

export interface Series {
  /** Null where the dimension is not known; undefined where the line is of all rows. */
  readonly value: Cell | undefined;
  /** Set on the line of the period before, on the days that it is compared with. */
  readonly side?: 'before';
  /** Of a ratio: the ratio of the sums, null where the denominator is zero. */
  readonly total: number | null;
  /** One per time: undefined where there is no row, null where a ratio's denominator is zero. */
  readonly points: readonly (number | null | undefined)[];
}

/** What a chart of one metric, or ratio, shows. A chart rounds. */
export interface ChartData {
  /** The metric's or the ratio's name. */
  readonly metric: string;
  /** In seconds since 1970; empty where the report has no time: then each series has one point. */
  readonly times: readonly number[];
  /** The dimension whose values the series are, if there is one. */
  readonly by: string | undefined;
  /** At most seven, the largest first; those of a ratio by its denominator. */
  readonly series: readonly Series[];
  /** The values that have no series. */
  readonly rest?: {
    readonly count: number;
    /** Of the total, 0 to 1. Absent for a ratio, and where negative amounts leave no such share. */
    readonly share?: number;
  };
  /** The report is compared with other days. A split draws none of these. */
  readonly isCompared?: true;
  /** There are totals to compare, and no course of time to draw: bars, not lines. */
  readonly isBars: boolean;
}
