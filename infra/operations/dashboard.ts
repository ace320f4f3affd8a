import { Duration, type Stack } from 'aws-cdk-lib';
import {
  type AlarmBase,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  LogQueryWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { serviceFunctions } from '../api/service-functions.ts';
import type { ResourceNames } from '../resource-names.ts';
import type { StageMetrics } from './metrics.ts';
import { partnerLogs, partnerQueries } from './partner-queries.ts';

export interface DashboardProps {
  readonly names: ResourceNames;
  readonly metrics: StageMetrics;
  readonly alarms: readonly AlarmBase[];
  readonly runbookUrl: string;
}

const graph = (title: string, left: IMetric[]) => new GraphWidget({ title, left, width: 8, height: 6 });

const logWidget = (title: string, logGroupNames: string[], queryLines: readonly string[]) =>
  new LogQueryWidget({ title, logGroupNames, queryLines: [...queryLines], width: 24, height: 6 });

/**
 * Makes the dashboard: what partners see, what the queries scan, the state of the functions and of the firewall, who
 * pulled what, and the last faults.
 */
export function makeDashboard(stack: Stack, { names, metrics, alarms, runbookUrl }: DashboardProps): void {
  const { own, gateway, lambda, firewall, scannedByState, answers } = metrics;
  const ofEach = (name: 'Duration' | 'Errors' | 'Throttles', statistic: string) =>
    serviceFunctions.map((entry) => lambda(entry.name, name, { statistic }));
  const percentiles = ['p50', 'p95', 'p99'].map((statistic) => ({ statistic, label: statistic }));
  new Dashboard(stack, 'Dashboard', {
    dashboardName: names.service,
    defaultInterval: Duration.days(1),
    widgets: [
      [
        new TextWidget({ markdown: `# ${names.service}\nWhat to do: ${runbookUrl}`, width: 8, height: 3 }),
        new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: 16, height: 3 }),
      ],
      [
        graph('Requests and their faults', [
          gateway('Count', { statistic: 'SampleCount', label: 'requests' }),
          gateway('4XXError', { label: '4xx' }),
          gateway('5XXError', { label: '5xx' }),
          answers('throttled'),
          answers('refused'),
        ]),
        graph(
          'Latency, ms',
          percentiles.map((options) => gateway('Latency', options)),
        ),
        graph('Reports', [
          own('reports', { label: 'delivered' }),
          own('failedReports', { label: 'failed' }),
          own('unavailable', { label: '503, on any route' }),
        ]),
        graph('Reports that fail, share of an hour', [metrics.failedShare(Duration.hours(1), 1)]),
      ],
      [
        graph(
          'Queries, ms',
          percentiles.map((options) => own('queryDuration', options)),
        ),
        graph('Queries that failed, and starts that Athena throttled', [
          own('failedQueries'),
          own('throttledStarts'),
        ]),
        graph('Bytes scanned in an hour, by final state of the query', [scannedByState()]),
      ],
      [
        graph('Functions, p95 ms', ofEach('Duration', 'p95')),
        graph('Functions: errors', ofEach('Errors', 'Sum')),
        graph('Functions: throttles', ofEach('Throttles', 'Sum')),
        graph('Events that no function handled', [metrics.lostEvents(), metrics.rule('FailedInvocations')]),
        graph('Firewall', [
          firewall('AllowedRequests', stack.region),
          firewall('BlockedRequests', stack.region),
        ]),
      ],
      ...partnerQueries.map(({ title, ofAll }) => [logWidget(title, partnerLogs(names), ofAll)]),
      [
        logWidget(
          'The last requests that failed through a fault of the service',
          serviceFunctions.map(({ name }) => names.functionLog(name)),
          [
            'fields @timestamp, requestId, report, status, error.message',
            'filter level = "ERROR"',
            'sort @timestamp desc',
            'limit 20',
          ],
        ),
      ],
    ],
  });
}
