import type { ChartData } from '../reader/chart-data.ts';
import type { Run } from '../run.ts';
import { figureText, nameOf, shareText } from './chart-words.ts';

/** Draws a bar for the total of each of the chart's values, all on one scale. */
export function Bars({ chart, run }: { readonly chart: ChartData; readonly run: Run }) {
  const most = Math.max(...chart.series.map(({ total }) => total ?? 0), 0);
  return (
    <ul class="bars">
      {chart.series.map((one, index) => (
        <li key={`${index}`}>
          <span class="bar-name">{nameOf(one)}</span>
          <span class="bar-track" aria-hidden="true">
            <span
              class="bar"
              style={{ width: `${most > 0 ? (Math.max(0, one.total ?? 0) / most) * 100 : 0}%` }}
            />
          </span>
          <span class="bar-value">
            {figureText(one.total, chart, run)} <span class="hint">{shareText(one.total, chart)}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}
