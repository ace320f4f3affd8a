import { metricsOf, reportOf } from '../../lib/report/catalogue.ts';
import type { ChartData } from './chart-data.ts';
import { nameOf } from './chart-words.ts';
import { rough } from './format.ts';
import { LineChart } from './line-chart.tsx';
import { chooseMetric } from './run.ts';

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
  const asked = reportOf(report);
  const known = asked ? metricsOf(asked).map(({ name }) => name) : [];
  const metrics = fields.filter((name) => known.includes(name));
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
      {hasTime ? <LineChart chart={chart} /> : <Bars chart={chart} />}
    </figure>
  );
}

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
