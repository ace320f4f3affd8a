import { fieldOf, reportOf } from '../../../lib/report/catalogue.ts';
import { counted, rounded, shownMetric, shownRatio } from '../format.ts';
import type { ChartData, Series } from '../reader/chart-data.ts';
import { ratiosOf } from '../reader/ratios.ts';

/** The name of a line or a bar. */
export const nameOf = ({ value, side }: Series): string => {
  if (side === 'before') return 'The days before';
  if (value === undefined) return 'All';
  if (value === null) return 'not known';
  return value === '' ? '""' : value;
};

/** What was asked for. */
interface Asked {
  readonly report: string;
  readonly choice: { readonly fields: readonly string[] };
}

/** What the chart does not draw: values without a line or bar of their own, and, in a split, the days before. */
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

const ratioOf = (metric: string, { report, choice }: Asked) =>
  ratiosOf(report, choice.fields).find(({ name }) => name === metric);

/** Whether something is left to draw without a split: a course of time, or two sides. */
export const canBeUnsplit = ({ by, times, isCompared }: ChartData): boolean =>
  by === undefined || times.length > 1 || isCompared === true;

/** A point of a line as people read it. */
export const pointText = (point: number | null | undefined, chart: ChartData, run: Asked): string => {
  if (point === undefined) return 'no row';
  return point === null ? 'no value' : figureText(point, chart, run);
};

/** A figure of the chart as people read it: each metric has one precision. */
export function figureText(figure: number | null, { metric }: ChartData, run: Asked): string {
  const ratio = ratioOf(metric, run);
  const asked = reportOf(run.report);
  const isAmount = asked !== undefined && fieldOf(asked, metric)?.type === 'float';
  const digits = figure === null ? null : figure.toFixed(6);
  if (ratio) return shownRatio(digits, ratio.unit);
  return shownMetric(digits === null || isAmount ? digits : rounded(digits, 0), isAmount);
}

/** What the chart shows, for those who don't see it; the table has the rest. */
export function wordsOf(chart: ChartData, run: Asked): string {
  const { metric, times, series } = chart;
  const span = times.length > 0 ? ` from ${dayOf(times[0])} to ${dayOf(times.at(-1))}` : '';
  const totals = series.map((one) => `${nameOf(one)} ${figureText(one.total, chart, run)}`).join(', ');
  return `${metric}${span}, ${counted(series.length, 'line')}. In all: ${totals}. ${leftOutWords(chart, run)}`.trim();
}

/** Seconds since 1970 as an ISO text, UTC. */
export const iso = (time = 0): string => new Date(time * 1_000).toISOString();
/** The UTC day of a time in seconds since 1970. */
export const dayOf = (time?: number): string => iso(time).slice(0, 10);

export const isByDay = ({ times }: ChartData): boolean => times.every((time) => time % 86_400 === 0);

/** An instant of the axis: its day where there are only days. */
export const instantText = (time: number, chart: ChartData): string =>
  isByDay(chart) ? dayOf(time) : `${iso(time).slice(0, 16).replace('T', ' ')} UTC`;
