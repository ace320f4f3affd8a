import { useState } from 'preact/hooks';
import { fieldOf, reportOf } from '../../../lib/report/catalogue.ts';
import { counted } from '../format.ts';
import type { ChartData } from '../reader/chart-data.ts';
import { ratiosOf } from '../reader/ratios.ts';
import { askChart, type Run } from '../run.ts';
import { Bars } from './bars.tsx';
import { canBeUnsplit, leftOutWords } from './chart-words.ts';
import { LineChart } from './line-chart.tsx';

/** The chart of a report. It shows a metric or a ratio, split by a dimension, as lines over time or as bars. */
export function ChartView({ chart, run }: { readonly chart: ChartData; readonly run: Run }) {
  const [isInAll, setInAll] = useState(false);
  const { fields } = run.choice;
  const report = reportOf(run.report);
  const metrics = fields.filter((name) => report && fieldOf(report, name)?.role === 'metric');
  const ratios = ratiosOf(run.report, fields).map(({ name }) => name);
  const hasCourse = chart.times.length > 0 && !chart.isBars;
  // Draws no chart of a single figure: the totals show that figure already.
  if (chart.times.length < 2 && chart.by === undefined && !chart.isBars) return null;
  const ask = (change: { readonly metric?: string; readonly by?: string | null }) =>
    askChart({ metric: chart.metric, by: chart.by ?? null, ...change });
  return (
    <figure class="chart">
      <figcaption>
        <label>
          <span>Show</span>
          <select value={chart.metric} onChange={({ currentTarget }) => ask({ metric: currentTarget.value })}>
            {metrics.map((name) => (
              <option key={name}>{name}</option>
            ))}
            {ratios.map((name) => (
              <option key={name} value={name}>
                {name} (derived)
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>split by</span>
          <select
            value={chart.by ?? ''}
            onChange={({ currentTarget }) =>
              ask({ by: currentTarget.value === '' ? null : currentTarget.value })
            }
          >
            {canBeUnsplit(chart) && <option value="">nothing</option>}
            {run.splits?.map(({ name, valueCount }) => (
              <option key={name} value={name}>
                {name} ({counted(valueCount, 'value')})
              </option>
            ))}
          </select>
        </label>
        {hasCourse && (
          <label>
            <span>as</span>
            <select
              value={isInAll ? 'bars' : 'lines'}
              onChange={({ currentTarget }) => setInAll(currentTarget.value === 'bars')}
            >
              <option value="lines">lines over time</option>
              <option value="bars">bars of all days</option>
            </select>
          </label>
        )}
        <span class="hint">{leftOutWords(chart, run)}</span>
      </figcaption>
      {hasCourse && !isInAll ? <LineChart chart={chart} run={run} /> : <Bars chart={chart} run={run} />}
    </figure>
  );
}
