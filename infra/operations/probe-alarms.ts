import { Duration } from 'aws-cdk-lib';
import type { AlarmDefinition } from './alarm-list.ts';
import type { StageMetrics } from './metrics.ts';

/** The alarms of the probe's metrics. They also fire without data, because a probe that does not run sends none. */
export function probeAlarms(metrics: StageMetrics, everyMinutes: number): AlarmDefinition[] {
  const period = Duration.minutes(everyMinutes);
  return [
    {
      name: 'probe-gets-no-report',
      severity: 'page',
      impact: 'Three times in a row, the probe did not get its report: partners may get none either.',
      anchor: 'probe-gets-no-report',
      metric: metrics.own('probePulled', { period, statistic: 'Minimum' }),
      fires: 'below',
      threshold: 1,
      periods: 3,
      periodsToAlarm: 3,
    },
    {
      name: 'no-data-came',
      severity: 'page',
      impact: 'A report of yesterday has no rows: partners get empty reports.',
      anchor: 'no-data-came',
      metric: metrics.own('probeRows', { period: Duration.hours(1), statistic: 'Minimum' }),
      fires: 'below',
      threshold: 1,
      periods: 2,
      periodsToAlarm: 2,
    },
  ];
}
