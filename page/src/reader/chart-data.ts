import type { Cell } from './read-csv.ts';

/**
 * What a chart draws along its axis: the times of the report, nothing (bars of all days), or the hours of the day or the
 * weekdays, for which the page adds up all days.
 */
export const CHART_AXES = ['time', 'all', 'hours', 'weekdays'] as const;
export type ChartAxis = (typeof CHART_AXES)[number];

export interface Series {
  /** The value of the dimension: null if it is not known, undefined if the line shows all rows. */
  readonly value: Cell | undefined;
  /**
   * Set only on the line of the period before. Each point of this line is drawn at the day of the report that is
   * compared with the point's own day.
   */
  readonly side?: 'before';
  /** The series' total. For a ratio, the ratio of the sums, or null if the denominator is zero. */
  readonly total: number | null;
  /** One point for each time: undefined if there is no row, null if a ratio's denominator is zero. */
  readonly points: readonly (number | null | undefined)[];
}

/** The data of a chart of one metric or ratio. The figures are rounded. */
export interface ChartData {
  /** The metric's or the ratio's name. */
  readonly metric: string;
  readonly axis: ChartAxis;
  /**
   * The times of the points, in seconds since 1970; on other axes, the hours from 0 to 23 or the weekdays from 0, a
   * Monday, to 6. If the report has no time, the list is empty and each series has
   * one point.
   */
  readonly times: readonly number[];
  /** How many days have rows at each point, if the page adds up days. */
  readonly dayCounts?: readonly number[];
  /** The dimension that splits the chart: each series shows one of its values. Undefined without a split. */
  readonly by: string | undefined;
  /** At most seven series, the largest first. The series of a ratio are ranked by its denominator. */
  readonly series: readonly Series[];
  /** The dimension's other values, which have no series. */
  readonly rest?: {
    readonly count: number;
    /** Their share of the total, 0 to 1. Absent for a ratio, and if negative amounts make the share meaningless. */
    readonly share?: number;
  };
  /** The total of all values of the split. Absent for a ratio, and if an amount is negative: then there are no shares. */
  readonly whole?: number;
  /** The report is compared with other days. A chart with a split does not draw these days. */
  readonly isCompared?: true;
  /** Whether the chart draws bars and not lines: it has totals to compare, but at most one time. */
  readonly isBars: boolean;
}
