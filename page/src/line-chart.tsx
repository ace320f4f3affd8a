import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { ChartData } from './chart-data.ts';
import { nameOf, timeText, wordsOf } from './chart-words.ts';
import { rough } from './format.ts';
import { HEIGHT_PX, optionsFor } from './line-chart-options.ts';

/** A report over time, a line for each value. The legend has the totals or, under the pointer, the values there. */
export function LineChart({ chart }: { readonly chart: ChartData }) {
  const chartBox = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const isDark = useDark();
  useEffect(() => {
    const element = chartBox.current;
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
      <div ref={chartBox} role="img" aria-label={wordsOf(chart)} />
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
