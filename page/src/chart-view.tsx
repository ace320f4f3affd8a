import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { reports } from '../../lib/report/catalogue.ts';
import type { ChartData, Series } from './chart-data.ts';
import { counted, rough } from './format.ts';
import { chooseMetric } from './run.ts';

const HEIGHT_PX = 280;

/** The report as a chart: lines over time, or bars where it has no time. */
export function MetricChart({
  chart,
  fields,
  report,
}: {
  readonly chart: ChartData;
  readonly fields: readonly string[];
  readonly report: string;
}) {
  const known = reports.find(({ name }) => name === report)?.fields ?? {};
  const metrics = fields.filter((name) => known[name]?.role === 'metric');
  const hasTime = chart.times.length > 0;
  if (!hasTime && chart.by === undefined) return null;
  return (
    <figure class="chart">
      <figcaption>
        <label>
          <span class="visually-hidden">Metric of the chart</span>
          <select value={chart.metric} onChange={({ currentTarget }) => chooseMetric(currentTarget.value)}>
            {metrics.map((metric) => (
              <option key={metric}>{metric}</option>
            ))}
          </select>
        </label>{' '}
        {hasTime ? 'over time' : ''} {chart.by === undefined ? '' : `by ${chart.by}`}
        {chart.isTooManyValues && (
          <span class="hint"> There are too many values to tell apart: this is all of them together.</span>
        )}
      </figcaption>
      {hasTime ? <Lines chart={chart} /> : <Bars chart={chart} />}
    </figure>
  );
}

const nameOf = ({ value, others }: Series): string => {
  if (others !== undefined) return `${counted(others, 'other')}`;
  if (value === undefined) return 'All';
  if (value === null) return 'not known';
  return value === '' ? '""' : value;
};

/** Whether the machine is set to dark colours, as it changes. */
function useDark(): boolean {
  const [query] = useState(() => matchMedia('(prefers-color-scheme: dark)'));
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const look = () => setDark(query.matches);
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, [query]);
  return isDark;
}

function Lines({ chart }: { readonly chart: ChartData }) {
  const place = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const isDark = useDark();
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const plot = new uPlot(
      optionsFor(chart, element, setAt),
      [chart.times, ...chart.series.map(({ points }) => points)] as uPlot.AlignedData,
      element,
    );
    const observer = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [chart, isDark]);
  const time = at === null ? undefined : chart.times[at];
  return (
    <>
      <div ref={place} role="img" aria-label={wordsOf(chart)} />
      <p class="hint at" aria-hidden="true">
        {time === undefined ? 'Point at the chart to read it.' : timeText(time, chart)}
      </p>
      <ul class="legend">
        {chart.series.map((series, index) => {
          const value = at === null ? series.total : (series.points[at] ?? null);
          return (
            <li key={`${index}`}>
              <span class={`line line-${index}`} aria-hidden="true" />
              {nameOf(series)} <span class="hint">{value === null ? 'no row' : rough(value)}</span>
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** What the chart shows, for those who don't see it; the table has the rest. */
function wordsOf({ metric, times, series }: ChartData): string {
  const span = times.length > 0 ? ` from ${day(times[0])} to ${day(times.at(-1))}` : '';
  const totals = series.map((one) => `${nameOf(one)} ${rough(one.total)}`).join(', ');
  return `${metric}${span}, ${counted(series.length, 'line')}. In all: ${totals}.`;
}

/** Reads colours of the style sheet as a canvas takes them: `light-dark()` decided. */
function coloursAt(element: HTMLElement): (name: string) => string {
  return (name) => {
    element.style.color = `var(${name})`;
    const { color } = getComputedStyle(element);
    element.style.color = '';
    return color;
  };
}

const iso = (time = 0): string => new Date(time * 1_000).toISOString();
const day = (time?: number): string => iso(time).slice(0, 10);
const timeText = (time: number, { times }: ChartData): string =>
  times.every((other) => other % 86_400 === 0)
    ? day(time)
    : `${iso(time).slice(0, 16).replace('T', ' ')} UTC`;

function optionsFor(
  chart: ChartData,
  element: HTMLElement,
  onPoint: (index: number | null) => void,
): uPlot.Options {
  const colour = coloursAt(element);
  const axis = {
    stroke: colour('--muted'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1, size: 4 },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    tzDate: (time) => uPlot.tzDate(new Date(time * 1_000), 'Etc/UTC'),
    scales: {
      x: { time: true, range: (_, min, max) => (min === max ? [min - 43_200, max + 43_200] : [min, max]) },
      y: { range: (_, min, max) => [Math.min(0, min ?? 0), Math.max(0, max ?? 0) * 1.05 || 1] },
    },
    series: [
      {},
      ...chart.series.map((_, index) => ({
        stroke: colour(`--series-${index}`),
        width: 2,
        points: { show: chart.times.length <= 62, size: 5, fill: colour(`--series-${index}`) },
      })),
    ],
    axes: [
      {
        ...axis,
        // No hours where there are only days.
        ...(chart.times.every((time) => time % 86_400 === 0) && {
          incrs: [1, 2, 3, 5, 7, 10, 14].map((count) => count * 86_400),
        }),
        values: (_: uPlot, splits: number[], __: number, ___: number, increment: number) =>
          splits.map((time) =>
            increment >= 86_400 || time % 86_400 === 0 ? shortDay(time) : iso(time).slice(11, 16),
          ),
      },
      { ...axis, size: 64, values: (_: uPlot, splits: number[]) => splits.map(rough) },
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

const shortDay = (time: number): string =>
  new Date(time * 1_000).toLocaleDateString('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });

function Bars({ chart: { series } }: { readonly chart: ChartData }) {
  const most = Math.max(...series.map(({ total }) => total), 0);
  return (
    <ul class="bars">
      {series.map((one, index) => (
        <li key={`${index}`}>
          <span class="bar-name">{nameOf(one)}</span>
          <span class="bar-track" aria-hidden="true">
            <span class="bar" style={{ width: `${most > 0 ? (Math.max(0, one.total) / most) * 100 : 0}%` }} />
          </span>
          <span class="bar-value">{rough(one.total)}</span>
        </li>
      ))}
    </ul>
  );
}
