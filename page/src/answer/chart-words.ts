import { fieldOf, reportOf } from '../../../lib/report/catalogue.ts';
import { counted, listed, rounded, shownMetric, shownRatio } from '../format.ts';
import { type DayPair, hasOtherWeekday } from '../question/compare.ts';
import type { ChartData, Series } from '../reader/chart-data.ts';
import { ratiosOf } from '../reader/ratios.ts';

/** The name of a line or a bar. */
export const nameOf = ({ value, side }: Series): string => {
  if (side === 'before') return 'The days before';
  if (value === undefined) return 'All';
  if (value === null) return 'not known';
  return value === '' ? '""' : value;
};

/** The report and the fields that the user asked for. */
interface Asked {
  readonly report: string;
  readonly choice: { readonly fields: readonly string[] };
}

/**
 * Says what the chart does not draw: the smaller values of the dimension and, if the chart of a comparison is split,
 * the period before.
 */
export function leftOutWords(chart: ChartData, run: Asked): string {
  const words = [restWords(chart, run)];
  if (chart.isCompared && chart.by !== undefined) words.push('The days before are not drawn in a split.');
  return words.filter((one) => one !== '').join(' ');
}

function restWords({ rest, series, by, metric }: ChartData, run: Asked): string {
  if (!rest) return '';
  const ratio = ratioOf(metric, run);
  const drawn = ratio ? `with the most ${ratio.denominator}` : `largest of ${by}`;
  const share = rest.share === undefined ? '' : `: ${percent(rest.share)}`;
  return `The ${series.length} ${drawn}, and ${counted(rest.count, 'other')}${share}.`;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** A bar's share of the whole, `62.1 %`; empty if the chart has no shares. */
export const shareText = (figure: number | null, { whole }: ChartData): string =>
  whole === undefined || figure === null ? '' : `${((100 * figure) / whole).toFixed(1)} %`;

const SHOWN_POINTS = 7;

/**
 * Says that the page has added up days by itself, and how many at each point: if some weekday occurs more often than
 * others, its sum is larger for that reason alone. Empty if the page has added up nothing.
 */
export function addedUpWords(chart: ChartData, pairs: readonly DayPair[] = []): string {
  const { dayCounts = [], axis } = chart;
  const [usual = 0] = dayCounts.toSorted((a, b) => timesIn(dayCounts, b) - timesIn(dayCounts, a));
  if (dayCounts.length === 0) return '';
  const others = dayCounts.flatMap((count, place) =>
    count === usual ? [] : [`${instantText(place, chart)} ${count}`],
  );
  const each = `${counted(usual, 'day')} with rows at each ${axis === 'hours' ? 'hour' : 'weekday'}`;
  const isMoved = axis === 'weekdays' && pairs.some(hasOtherWeekday);
  return (
    `Added up by this page: ${each}${others.length === 0 ? '' : `, but ${listed(others, SHOWN_POINTS)}`}.` +
    (isMoved ? ' The days before are drawn at the weekday of the day beside them.' : '')
  );
}

const timesIn = (counts: readonly number[], count: number): number =>
  counts.filter((one) => one === count).length;

const ratioOf = (metric: string, { report, choice }: Asked) =>
  ratiosOf(report, choice.fields).find(({ name }) => name === metric);

/**
 * Whether the chart has no split, or can be drawn without one: it then still has several times, or two periods to
 * compare.
 */
export const canBeUnsplit = ({ by, times, isCompared }: ChartData): boolean =>
  by === undefined || times.length > 1 || isCompared === true;

/** The text of one point of a line, for people. */
export const pointText = (point: number | null | undefined, chart: ChartData, run: Asked): string => {
  if (point === undefined) return 'no row';
  return point === null ? 'no value' : figureText(point, chart, run);
};

/** The text of one figure of the chart, for people. All figures of a metric have the same precision. */
export function figureText(figure: number | null, { metric }: ChartData, run: Asked): string {
  const ratio = ratioOf(metric, run);
  const asked = reportOf(run.report);
  const isAmount = asked !== undefined && fieldOf(asked, metric)?.type === 'float';
  const digits = figure === null ? null : figure.toFixed(6);
  if (ratio) return shownRatio(digits, ratio.unit);
  return shownMetric(digits === null || isAmount ? digits : rounded(digits, 0), isAmount);
}

/** Describes the chart for users who cannot see it. The table has the details. */
export function wordsOf(chart: ChartData, run: Asked): string {
  const { metric, times, series } = chart;
  const span =
    times.length === 0
      ? ''
      : chart.dayCounts
        ? ` by ${chart.axis === 'hours' ? 'hour of the day, UTC' : 'weekday'}`
        : ` from ${dayOf(times[0])} to ${dayOf(times.at(-1))}`;
  const totals = series.map((one) => `${nameOf(one)} ${figureText(one.total, chart, run)}`).join(', ');
  return `${metric}${span}, ${counted(series.length, 'line')}. In all: ${totals}. ${leftOutWords(chart, run)}`.trim();
}

/** Turns seconds since 1970 into an ISO text, UTC. */
export const iso = (time = 0): string => new Date(time * 1_000).toISOString();
/** The UTC day of a time in seconds since 1970. */
export const dayOf = (time?: number): string => iso(time).slice(0, 10);

export const isByDay = ({ times }: ChartData): boolean => times.every((time) => time % 86_400 === 0);

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** The text of a place of the axis: an hour of the day, a weekday, a day, or an instant. */
export function instantText(time: number, chart: ChartData): string {
  if (chart.axis === 'weekdays') return WEEKDAYS[time] ?? '';
  if (chart.axis === 'hours') return `${String(time).padStart(2, '0')}:00`;
  return isByDay(chart) ? dayOf(time) : `${iso(time).slice(0, 16).replace('T', ' ')} UTC`;
}
