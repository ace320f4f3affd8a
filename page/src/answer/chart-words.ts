import { fieldOf, reportOf } from '../../../lib/report/catalogue.ts';
import { counted, rounded, shownMetric, shownRatio } from '../format.ts';
import type { ChartData, Series } from '../reader/chart-data.ts';
import { ratiosOf } from '../reader/ratios.ts';
import type { Run } from '../run.ts';

/** What a line, or a bar, is of. */
export const nameOf = ({ value, side }: Series): string => {
  if (side === 'before') return 'The days before';
  if (value === undefined) return 'All';
  if (value === null) return 'not known';
  return value === '' ? '""' : value;
};

/** The values that have no line or bar of their own, in words: they never set the scale. */
export function restWords({ rest, series, by }: ChartData): string {
  if (!rest) return '';
  const share = rest.share === undefined ? '' : `: ${percent(rest.share)}`;
  return `The ${series.length} largest of ${by}, and ${counted(rest.count, 'other')}${share}.`;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** A figure of the chart as people read it: each metric has one precision. */
export function figureOf(
  figure: number | null,
  { metric }: ChartData,
  { report, choice }: Pick<Run, 'report' | 'choice'>,
): string {
  const ratio = ratiosOf(report, choice.fields).find(({ name }) => name === metric);
  const asked = reportOf(report);
  const isAmount = asked !== undefined && fieldOf(asked, metric)?.type === 'float';
  const digits = figure === null ? null : figure.toFixed(6);
  if (ratio) return shownRatio(digits, ratio.unit);
  return shownMetric(digits === null || isAmount ? digits : rounded(digits, 0), isAmount);
}

/** What the chart shows, for those who don't see it; the table has the rest. */
export function wordsOf(chart: ChartData, run: Pick<Run, 'report' | 'choice'>): string {
  const { metric, times, series } = chart;
  const span = times.length > 0 ? ` from ${day(times[0])} to ${day(times.at(-1))}` : '';
  const totals = series.map((one) => `${nameOf(one)} ${figureOf(one.total, chart, run)}`).join(', ');
  return `${metric}${span}, ${counted(series.length, 'line')}. In all: ${totals}. ${restWords(chart)}`.trim();
}

/** Seconds since 1970 as an ISO text, UTC. */
export const iso = (time = 0): string => new Date(time * 1_000).toISOString();
const day = (time?: number): string => iso(time).slice(0, 10);

export const isByDay = ({ times }: ChartData): boolean => times.every((time) => time % 86_400 === 0);

/** An instant of the axis: its day where there are only days. */
export const timeText = (time: number, chart: ChartData): string =>
  isByDay(chart) ? day(time) : `${iso(time).slice(0, 16).replace('T', ' ')} UTC`;
