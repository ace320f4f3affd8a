import { fieldOf, reportOf } from '../../../lib/report/catalogue.ts';
import { counted } from '../format.ts';
import type { ChartAxis, ChartData } from '../reader/chart-data.ts';
import { ratiosOf } from '../reader/ratios.ts';
import type { ChartQuestion } from '../reader/reader-messages.ts';
import { askChart, type Run } from '../run.ts';
import { look } from '../state.ts';
import { addedUpWords, canBeUnsplit, figureText, leftOutWords, nameOf, shareText } from './chart-words.ts';
import { LineChart } from './line-chart.tsx';

/** Draws a bar for the total of each of the chart's values, all on one scale. */
function Bars({ chart, run }: { readonly chart: ChartData; readonly run: Run }) {
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

const AXES: Readonly<Record<ChartAxis, string>> = {
  time: 'lines over time',
  all: 'bars of all days',
  hours: 'by hour of the day',
  weekdays: 'by weekday',
};

/** The chart of a report. It shows a metric or a ratio, split by a dimension, as lines over time or as bars. */
export function ChartView({ chart, run }: { readonly chart: ChartData; readonly run: Run }) {
  const { fields } = run.choice;
  const report = reportOf(run.report);
  const metrics = fields.filter((name) => report && fieldOf(report, name)?.role === 'metric');
  const ratios = ratiosOf(run.report, fields).map(({ name }) => name);
  const axes = chart.times.length > 1 ? (run.axes ?? []) : [];
  // Draws no chart of a single figure: the totals show that figure already.
  if (chart.times.length < 2 && chart.by === undefined && !chart.isBars) return null;
  // A split that the user has not chosen stays the default one.
  const ask = (change: ChartQuestion) => askChart({ ...look.value.chart, ...change });
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
        {axes.length > 0 && (
          <label>
            <span>as</span>
            <select
              value={chart.axis}
              onChange={({ currentTarget }) => ask({ axis: currentTarget.value as ChartAxis })}
            >
              {axes.map((axis) => (
                <option key={axis} value={axis}>
                  {AXES[axis]}
                </option>
              ))}
            </select>
          </label>
        )}
        <span class="hint">
          {`${addedUpWords(chart, run.compared?.pairs)} ${leftOutWords(chart, run)}`.trim()}
        </span>
      </figcaption>
      {chart.axis === 'all' || chart.isBars || chart.times.length === 0 ? (
        <Bars chart={chart} run={run} />
      ) : (
        <LineChart chart={chart} run={run} />
      )}
    </figure>
  );
}
