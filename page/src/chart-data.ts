import type { Field } from '../../lib/report/catalogue.ts';
import type { Cell } from './read-csv.ts';

/** More lines than this can't be told apart: the rest is one line. */
const MAX_SERIES = 7;

/** Beyond this many points, or values, the split by a dimension is given up: they would fill the memory. */
const MAX_POINTS = 200_000;
const MAX_VALUES = 20_000;

export interface Column {
  readonly name: string;
  readonly field: Field;
}

export interface Series {
  /** Null where the dimension is not known; undefined where the line is of all rows. */
  readonly value: Cell | undefined;
  /** Set on the line of the rest: how many values have no line of their own. */
  readonly others?: number;
  readonly total: number;
  /** One per time; null where there is no row. */
  readonly points: readonly (number | null)[];
}

/** What a chart of one metric shows. */
export interface ChartData {
  readonly metric: string;
  /** In seconds since 1970; empty where the report has no time: then each series has one point. */
  readonly times: readonly number[];
  /** The dimension whose values the series are, if there is one. */
  readonly by: string | undefined;
  readonly series: readonly Series[];
  /** Set where the dimension has too many values to tell apart. */
  readonly isTooManyValues: boolean;
}

/** What the columns of a report allow to draw: time on the axis, the first other dimension as lines. */
function chartColumns(columns: readonly Column[]) {
  const dimensions = columns.filter(({ field }) => field.role === 'dimension');
  const times = dimensions.filter(({ field }) => field.type === 'datetime');
  const isHour = ({ field }: Column) =>
    field.role === 'dimension' && field.type === 'datetime' && field.grain === 'hour';
  return {
    // Of hour and day, the hour says more.
    time: times.find(isHour) ?? times[0],
    by: dimensions.find(({ field }) => field.type !== 'datetime'),
    metrics: columns.filter(({ field }) => field.role === 'metric'),
  };
}

/** Gathers the rows of a report into what charts need, however many rows there are. */
export function chartGatherer(columns: readonly Column[]) {
  const { time, by, metrics } = chartColumns(columns);
  const timeIndex = time ? columns.indexOf(time) : -1;
  const byIndex = by ? columns.indexOf(by) : -1;
  const metricIndexes = metrics.map((metric) => columns.indexOf(metric));
  const all = new Map<string, Float64Array>();
  const values = new Map<Cell, Map<string, Float64Array>>();
  let points = 0;
  let isTooManyValues = false;

  const add = (sums: Map<string, Float64Array>, at: string, cells: readonly Cell[]) => {
    let sum = sums.get(at);
    if (!sum) {
      sum = new Float64Array(metricIndexes.length);
      sums.set(owned(at), sum);
      points += 1;
    }
    for (const [index, column] of metricIndexes.entries())
      sum[index] = (sum[index] ?? 0) + Number(cells[column] ?? 0);
  };

  return {
    add(cells: readonly Cell[]): void {
      const at = timeIndex === -1 ? '' : cells[timeIndex];
      // A row without a time has no place on the axis.
      if (at === null || at === undefined) return;
      add(all, at, cells);
      if (byIndex === -1 || isTooManyValues) return;
      const value = cells[byIndex] ?? null;
      let ofValue = values.get(value);
      if (!ofValue) {
        ofValue = new Map();
        values.set(value === null ? null : owned(value), ofValue);
      }
      add(ofValue, at, cells);
      if (values.size > MAX_VALUES || points > MAX_POINTS) {
        isTooManyValues = true;
        values.clear();
      }
    },

    /** The chart of a metric, by its name. */
    chart(metric: string): ChartData {
      const index = metrics.findIndex(({ name }) => name === metric);
      const times = [...all.keys()].sort();
      const pointsOf = (sums: ReadonlyMap<string, Float64Array>) =>
        times.map((at) => sums.get(at)?.[index] ?? null);
      const seriesOf = (value: Cell | undefined, sums: ReadonlyMap<string, Float64Array>): Series => ({
        value,
        total: totalOf(sums, index),
        points: pointsOf(sums),
      });
      const split = [...values].map(([value, sums]) => ({ value, sums, total: totalOf(sums, index) }));
      split.sort((a, b) => b.total - a.total);
      const shown = split.length > MAX_SERIES + 1 ? split.slice(0, MAX_SERIES) : split;
      const rest = split.slice(shown.length);
      const series = shown.map(({ value, sums }) => seriesOf(value, sums));
      if (rest.length > 0)
        series.push(
          restOf(
            rest.map(({ sums }) => sums),
            index,
            times,
          ),
        );
      return {
        metric,
        times: timeIndex === -1 ? [] : times.map((at) => Date.parse(at) / 1_000),
        by: isTooManyValues ? undefined : by?.name,
        series: split.length > 0 ? series : [seriesOf(undefined, all)],
        isTooManyValues,
      };
    },
  };
}

const totalOf = (sums: ReadonlyMap<string, Float64Array>, index: number): number =>
  [...sums.values()].reduce((total, sum) => total + (sum[index] ?? 0), 0);

function restOf(
  rest: readonly ReadonlyMap<string, Float64Array>[],
  index: number,
  times: readonly string[],
): Series {
  const points = times.map((at) => {
    const there = rest.flatMap((sums) => sums.get(at)?.[index] ?? []);
    return there.length > 0 ? there.reduce((sum, value) => sum + value, 0) : null;
  });
  const total = points.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  return { value: undefined, others: rest.length, total, points };
}

/** A text of its own: a slice would hold on to the whole piece of the file that it was cut from. */
const owned = (text: string): string => [...text].join('');
