import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { listedDays, stateOf } from '../question/day-states.ts';
import type { ChartData } from '../reader/chart-data.ts';
import type { Run } from '../run.ts';
import { dayOf, figureText, instantText, nameOf, pointText, wordsOf } from './chart-words.ts';
import { colourOf, HEIGHT_PX, optionsFor } from './line-chart-options.ts';

/**
 * The chart of a report over time, with a line for each value. The legend has the totals or, once the user points at a
 * time, the values of that time.
 */
export function LineChart({ chart, run }: { readonly chart: ChartData; readonly run: Run }) {
  const chartBox = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | undefined>(undefined);
  const [at, setAt] = useState<number | null>(null);
  const isDark = useDark();
  const told = listedDays.value;
  const isOpen = (day: string) => stateOf(told, run.report, day) === 'open';
  const hasOpen = !chart.dayCounts && chart.times.some((time) => isOpen(dayOf(time)));
  useEffect(() => {
    const element = chartBox.current;
    if (!element) return;
    const plot = new uPlot(
      optionsFor(chart, element, setAt, isOpen),
      [
        chart.times,
        ...chart.series.map(({ points }) => points.map((point) => point ?? null)),
      ] as uPlot.AlignedData,
      element,
    );
    drawn.current = plot;
    const observer = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [chart, isDark, told]);
  const time = at === null ? undefined : chart.times[at];
  const readAt = (index: number) => {
    const plot = drawn.current;
    if (plot) plot.setCursor({ left: plot.valToPos(chart.times[index] ?? 0, 'x'), top: 1 });
    setAt(index);
  };
  const readNowhere = () => {
    drawn.current?.setCursor({ left: -1, top: -1 });
    setAt(null);
  };
  const values = chart.series
    .map((series) => `${nameOf(series)} ${pointText(series.points[at ?? -1], chart, run)}`)
    .join(', ');
  return (
    <>
      <div ref={chartBox} role="img" aria-label={wordsOf(chart, run)} />
      <input
        type="range"
        class="read-at"
        aria-label="Read the chart at"
        min={0}
        max={chart.times.length - 1}
        step={1}
        value={at ?? chart.times.length - 1}
        aria-valuetext={time === undefined ? 'In all' : `${instantText(time, chart)}: ${values}`}
        onInput={({ currentTarget }) => readAt(Number(currentTarget.value))}
        onFocus={() => at === null && readAt(chart.times.length - 1)}
        onKeyDown={({ key }) => key === 'Escape' && readNowhere()}
        onBlur={readNowhere}
      />
      <div class="readout">
        <span class="at">{time === undefined ? 'In all' : instantText(time, chart)}</span>
        <ul class="legend">
          {chart.series.map((series, index) => (
            <li key={`${index}`}>
              <span class="line" style={{ background: colourOf(series, index) }} aria-hidden="true" />
              {nameOf(series)}{' '}
              <span class="hint">
                {at === null
                  ? figureText(series.total, chart, run)
                  : pointText(series.points[at], chart, run)}
              </span>
            </li>
          ))}
          {hasOpen && (
            <li>
              <span class="hatch" aria-hidden="true" />
              open day: more events may come
            </li>
          )}
        </ul>
      </div>
    </>
  );
}

/** Whether the machine is set to dark colours. Redraws when that setting changes. */
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
