import type { ChartData, Series } from './chart-data.ts';
import { type ColumnStore, valuesOf } from './column-store.ts';
import { ratiosOf } from './ratios.ts';
import type { ChartQuestion, Split } from './reader-messages.ts';
import { axesOf, type TimeAxis, timeAxisOf } from './time-axis.ts';
import { type Figure, figureOf, groupsOf, type Sums, sumsBySlot } from './value-groups.ts';

/** The largest number of lines in a chart. People cannot distinguish more. */
const MAX_SERIES = 7;

/**
 * The data that charts are made from: the rows of a report, the rows of the period before, and the dimensions that can
 * split a chart.
 */
export interface ChartSource {
  readonly report: string;
  readonly now: ColumnStore;
  readonly before?: ColumnStore;
  readonly splits: readonly Split[];
}

type Drawn = Pick<ChartData, 'series' | 'rest' | 'whole'>;

/** The dimensions that can split a chart, and the number of values that each has. */
export const splitsOf = ({ columns, rowCount }: ColumnStore): Split[] =>
  columns
    .filter(({ field }) => field.role === 'dimension' && field.type !== 'datetime')
    .map(({ name, values }) => ({ name, valueCount: groupsOf(values, rowCount).count }));

/** The data of a chart; undefined if the report has no metric. */
export function chartOf(source: ChartSource, question: ChartQuestion): ChartData | undefined {
  const { report, now, before, splits } = source;
  const names = now.columns.map(({ name }) => name);
  const metrics = now.columns.flatMap(({ name, field }) => (field.role === 'metric' ? [name] : []));
  const ratio = ratiosOf(report, names).find(({ name }) => name === question.metric);
  const metric = ratio?.name ?? metrics.find((name) => name === question.metric) ?? metrics[0];
  if (metric === undefined) return undefined;
  const { by } = question;
  const figure = figureOf(metric, ratio);
  const split =
    by === null ? undefined : (splits.find(({ name }) => name === by)?.name ?? defaultSplit(source));
  const stores = before && split === undefined ? [now, before] : [now];
  const wanted = axesOf(now).find((name) => name === question.axis) ?? 'time';
  const axis = timeAxisOf(stores, wanted);
  const drawn: Drawn =
    split === undefined
      ? { series: stores.map((store) => wholeSeries(store, axis, figure, store === before)) }
      : splitSeries(now, axis, figure, split);
  const { series, rest, whole } = drawn;
  return {
    metric,
    axis: wanted,
    times: axis.times,
    ...(axis.dayCounts && { dayCounts: axis.dayCounts }),
    by: split,
    series,
    // A ratio has no shares.
    ...(rest && { rest: ratio ? { count: rest.count } : rest }),
    ...(whole !== undefined && !ratio && { whole }),
    ...(before && { isCompared: true }),
    isBars: axis.times.length < 2 && (split !== undefined || series.length > 1),
  };
}

/**
 * The dimension that has the fewest values, but at least two: its lines are the easiest to distinguish. A comparison
 * over time has no default split, so that the chart shows both periods.
 */
function defaultSplit({ now, before, splits }: ChartSource): string | undefined {
  if (before && timeAxisOf([now, before]).times.length > 1) return undefined;
  const several = splits.filter(({ valueCount }) => valueCount > 1);
  return several.toSorted((a, b) => a.valueCount - b.valueCount)[0]?.name;
}

function wholeSeries(store: ColumnStore, axis: TimeAxis, figure: Figure, isBefore: boolean): Series {
  const placeOf = axis.placesIn(store);
  const total = sumsBySlot(store, figure.names, 1, (row) => (placeOf(row) === -1 ? -1 : 0));
  const points = sumsBySlot(store, figure.names, axis.length, placeOf);
  return {
    value: undefined,
    ...(isBefore && { side: 'before' }),
    total: figure.valueOf(total.of(0)),
    points: pointsOf(points, 0, axis.length, figure),
  };
}

/** Returns a series for each of the largest values of a dimension, and the count and share of the other values. */
function splitSeries(store: ColumnStore, axis: TimeAxis, figure: Figure, by: string): Drawn {
  const groups = groupsOf(valuesOf(store, by), store.rowCount);
  const placeOf = axis.placesIn(store);
  const groupOfRow = new Int32Array(store.rowCount);
  for (let row = 0; row < store.rowCount; row++)
    groupOfRow[row] = placeOf(row) === -1 ? -1 : groups.groupOf(row);
  const groupOf = (row: number) => groupOfRow[row] ?? -1;

  const totals = sumsBySlot(store, figure.names, groups.size, groupOf);
  const ranks = new Float64Array(groups.size);
  for (let group = 0; group < groups.size; group++)
    ranks[group] = totals.has(group) ? figure.rankOf(totals.of(group)) : Number.NaN;
  const shown = largest(ranks, MAX_SERIES);

  const firstSlot = new Int32Array(groups.size).fill(-1);
  for (const [index, group] of shown.entries()) firstSlot[group] = index * axis.length;
  const points = sumsBySlot(store, figure.names, shown.length * axis.length, (row) => {
    const slot = firstSlot[groupOf(row)] ?? -1;
    return slot === -1 ? -1 : slot + placeOf(row);
  });
  const series = shown.map(
    (group, index): Series => ({
      value: groups.valueOf(group),
      total: figure.valueOf(totals.of(group)),
      points: pointsOf(points, index * axis.length, axis.length, figure),
    }),
  );
  return { series, ...partsOf(ranks, shown) };
}

const pointsOf = (sums: Sums, first: number, length: number, figure: Figure): Series['points'] =>
  Array.from({ length }, (_, index) =>
    sums.has(first + index) ? figure.valueOf(sums.of(first + index)) : undefined,
  );

/** The indexes of the largest ranks, the largest first. Skips NaN. */
function largest(ranks: Float64Array, count: number): number[] {
  const top: number[] = [];
  const rankOf = (index: number | undefined) => (index === undefined ? Number.NaN : (ranks[index] ?? 0));
  for (let index = 0; index < ranks.length; index++) {
    const rank = rankOf(index);
    if (Number.isNaN(rank) || (top.length === count && rank <= rankOf(top.at(-1)))) continue;
    let at = top.length;
    while (at > 0 && rankOf(top[at - 1]) < rank) at -= 1;
    top.splice(at, 0, index);
    if (top.length > count) top.pop();
  }
  return top;
}

/** The values that are not shown, and the whole of which each value has a share. */
function partsOf(ranks: Float64Array, shown: readonly number[]): Omit<Drawn, 'series'> {
  const known = ranks.filter((rank) => !Number.isNaN(rank));
  const count = known.length - shown.length;
  const total = known.reduce((sum, rank) => sum + rank, 0);
  const left = shown.reduce((sum, group) => sum - (ranks[group] ?? 0), total);
  const share = left / total;
  return {
    ...(count > 0 && { rest: { count, ...(total > 0 && share >= 0 && share <= 1 && { share }) } }),
    ...(total > 0 && known.every((rank) => rank >= 0) && { whole: total }),
  };
}
