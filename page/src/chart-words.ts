import type { ChartData, Series } from './chart-data.ts';
import { counted, rough } from './format.ts';

/** What a line, or a bar, is of. */
export const nameOf = ({ value, others }: Series): string => {
  if (others !== undefined) return `${counted(others, 'other')}`;
  if (value === undefined) return 'All';
  if (value === null) return 'not known';
  return value === '' ? '""' : value;
};

/** What the chart shows, for those who don't see it; the table has the rest. */
export function wordsOf({ metric, times, series }: ChartData): string {
  const span = times.length > 0 ? ` from ${day(times[0])} to ${day(times.at(-1))}` : '';
  const totals = series.map((one) => `${nameOf(one)} ${rough(one.total)}`).join(', ');
  return `${metric}${span}, ${counted(series.length, 'line')}. In all: ${totals}.`;
}

/** Seconds since 1970 as an ISO text, UTC. */
export const iso = (time = 0): string => new Date(time * 1_000).toISOString();
const day = (time?: number): string => iso(time).slice(0, 10);
/** An instant of the axis: its day where there are only days. */
export const timeText = (time: number, { times }: ChartData): string =>
  times.every((other) => other % 86_400 === 0)
    ? day(time)
    : `${iso(time).slice(0, 16).replace('T', ' ')} UTC`;
