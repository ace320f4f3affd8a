import { Duration } from 'aws-cdk-lib';
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { abandon, publish, reportingFunctions } from '../api/service-functions.ts';
import { type StageMetrics, sumOf } from './metrics.ts';

/**
 * How urgent an alarm is. `page`: partners get no reports, or costs rise, and the person on call can end it. `ticket`:
 * it can wait for the morning, or a `page` alarm fires too if it gets worse.
 */
export type Severity = 'page' | 'ticket';

/**
 * One alarm. It fires if the metric is at or above the threshold (or below it, with `fires: 'below'`) in some of the
 * last periods.
 */
export interface AlarmDefinition {
  readonly name: string;
  /** If left out, `ticket`. */
  readonly severity?: Severity;
  /** What the alarm means for partners. The person on call reads this sentence first. */
  readonly impact: string;
  /** Anchor of the alarm's entry in `docs/runbook.md`. If left out, it is the name. */
  readonly anchor?: string;
  readonly metric: IMetric;
  /** `below`: fires below the threshold, and without data. Left out: fires at the threshold or above. */
  readonly fires?: 'below';
  readonly threshold: number;
  /** How many of how many periods must breach the threshold. If left out, 1 of 1. */
  readonly periods?: readonly [breached: number, last: number];
}

const QUARTER = { period: Duration.minutes(15) };

/** With fewer requests, one caller's mistake would be a large share. */
const LEAST_REQUESTS = 20;

/**
 * A report's first request waits 8 s at most, a hop of the waiting room 25 s. If p95 reaches 20 s, one request in
 * twenty is a long hop, or slow for another reason.
 */
const SLOW_MS = 20_000;

/**
 * A short burst of throttles is harmless, because Lambda, the service and partners try again. This number of throttles in
 * five minutes, twice in a quarter of an hour, means that the account is at its limit. If reports fail because of
 * throttles, the `reports-fail-…` alarms fire.
 */
const MANY_THROTTLES = 20;

/** The alarms of every stage, without those of the error budget and of the probe. */
export function alarmList(metrics: StageMetrics, gigabytesScannedPerHour: number): AlarmDefinition[] {
  // Only these functions are watched, because an alarm takes ten metrics at most. An account at its limit throttles all
  // functions alike.
  const throttles = reportingFunctions.map(({ name }) => metrics.lambda(name, 'Throttles'));
  // After the last retry of `publish` has failed, Lambda drops the event and invokes `abandon`. The first metric counts
  // the event even if `abandon` does not run.
  const givenUp = [
    metrics.lambda(publish.name, 'AsyncEventsDropped', QUARTER),
    metrics.lambda(abandon.name, 'Invocations', QUARTER),
  ];
  const lost = [
    metrics.lostEvents(),
    metrics.rule('FailedInvocations'),
    metrics.rule('InvocationsFailedToBeSentToDlq'),
    metrics.lambda(publish.name, 'DestinationDeliveryFailures'),
    metrics.lambda(abandon.name, 'DestinationDeliveryFailures'),
    metrics.lambda(abandon.name, 'AsyncEventsDropped'),
  ];
  return [
    {
      name: 'reports-are-slow',
      impact: 'One request in twenty takes 20 seconds or more: partners wait, and their clients may give up.',
      metric: metrics.gateway('Latency', { statistic: 'p95' }),
      threshold: SLOW_MS,
      periods: [3, 3],
    },
    {
      name: 'queries-fail',
      impact: 'Queries fail or are stopped: partners may not get these reports.',
      metric: metrics.own('failedQueries', QUARTER),
      threshold: 3,
    },
    {
      name: 'engine-is-saturated',
      impact:
        'Partners are answered 503: AWS throttles the service, queries take too long, or a partner requests more reports at a time than it has slots for.',
      metric: metrics.own('unavailable', QUARTER),
      threshold: 3,
    },
    {
      name: 'queries-are-throttled',
      impact: 'Athena lets the service start fewer queries than partners ask for: their reports come later.',
      anchor: 'engine-is-saturated',
      metric: metrics.own('throttledStarts'),
      threshold: MANY_THROTTLES,
      periods: [2, 3],
    },
    {
      name: 'functions-are-throttled',
      impact:
        'The account runs as many functions as it may, again and again: partners are answered 500 or 502 at once.',
      metric: sumOf(throttles, 'throttled invocations'),
      threshold: MANY_THROTTLES,
      periods: [2, 3],
    },
    {
      name: 'requests-are-throttled',
      impact: 'Partners are answered 429: they ask for more than the stage allows them.',
      metric: metrics.answers('throttled'),
      threshold: 20,
    },
    {
      name: 'callers-are-refused',
      severity: 'page',
      impact:
        'One request in four is answered 401 or 403: partners lose their access, or somebody tries to get in.',
      metric: metrics.refusedShare(QUARTER.period, LEAST_REQUESTS),
      threshold: 0.25,
      periods: [2, 3],
    },
    {
      name: 'large-reports-fail',
      impact:
        'A report too large to publish at once was given up after three tries: its partner was told so.',
      metric: sumOf(givenUp, 'given up', QUARTER.period),
      threshold: 1,
    },
    {
      name: 'publishing-fails',
      impact: 'Publishing a large report failed three times in an hour: partners wait long for theirs.',
      anchor: 'large-reports-fail',
      metric: metrics.lambda(publish.name, 'Errors', { period: Duration.hours(1) }),
      threshold: 3,
    },
    {
      name: 'events-are-lost',
      severity: 'page',
      impact:
        'No function handled the request to publish a large report: its partner waits, and is answered 503 in the end.',
      metric: sumOf(lost, 'events that nothing took'),
      threshold: 1,
    },
    {
      name: 'much-is-scanned',
      severity: 'page',
      impact: 'Queries read more than is usual in an hour: partners notice nothing, but Athena costs more.',
      metric: metrics.scannedInAnHour(),
      threshold: gigabytesScannedPerHour * 1_000_000_000,
    },
  ];
}

/** The alarms of the probe's metrics. They also fire without data, because a probe that does not run sends none. */
export function probeAlarms(
  metrics: StageMetrics,
  everyMinutes: number,
  finalAfterHours: number | undefined,
): AlarmDefinition[] {
  const period = Duration.minutes(everyMinutes);
  return [
    {
      name: 'probe-gets-no-report',
      severity: 'page',
      impact: 'Three times in a row, the probe did not get its report: partners may get none either.',
      metric: metrics.own('probePulled', { period, statistic: 'Minimum' }),
      fires: 'below',
      threshold: 1,
      periods: [3, 3],
    },
    {
      name: 'no-data-came',
      severity: 'page',
      impact: 'A report of yesterday has no rows: partners get empty reports.',
      metric: metrics.own('probeRows', { period: Duration.hours(1), statistic: 'Minimum' }),
      fires: 'below',
      threshold: 1,
      periods: [2, 2],
    },
    ...(finalAfterHours === undefined
      ? []
      : [
          {
            name: 'yesterday-is-not-final',
            impact: `A day is not final ${finalAfterHours} hours after its end, as partners were promised.`,
            metric: metrics.own('lateDays', { period: Duration.hours(1), statistic: 'Maximum' }),
            threshold: 1,
          },
        ]),
  ];
}

/**
 * The error budget: the share of a month's reports that may fail. A report is delivered, or fails through a fault of
 * the service (5xx). Three things count as neither: a report refused for the caller's fault (4xx), a redirect to the
 * next hop of the waiting room, and a download.
 */
const BUDGET = 0.005;

/**
 * A rate at which the error budget is used up. The alarm fires if the share of failed reports reaches `share` in both
 * windows. The long window shows that the failures matter, the short one that they still go on.
 */
export interface BurnRate {
  readonly name: string;
  readonly severity: Severity;
  readonly impact: string;
  /** A window is in alarm if this share of its reports, or more, has failed. */
  readonly share: number;
  readonly windows: readonly [BurnWindow, BurnWindow];
}

interface BurnWindow {
  readonly period: Duration;
  /**
   * A window with fewer reports is never in alarm, because a single failure would be a large share. Then only the probe
   * watches.
   */
  readonly leastReports: number;
}

/** At the first rate, a budget for thirty days is used up in two days; at the second one, in five. */
export const burnRates: readonly BurnRate[] = [
  {
    name: 'reports-fail-fast',
    severity: 'page',
    impact: 'For an hour, one report in fourteen has failed: partners are answered 5xx.',
    share: 14.4 * BUDGET,
    windows: [
      { period: Duration.hours(1), leastReports: 20 },
      { period: Duration.minutes(5), leastReports: 2 },
    ],
  },
  {
    name: 'reports-fail-slowly',
    // At this rate the budget lasts for five days, so the alarm can wait for the morning.
    severity: 'ticket',
    impact: 'For six hours, one report in thirty-three has failed: some partners are answered 5xx.',
    share: 6 * BUDGET,
    windows: [
      { period: Duration.hours(6), leastReports: 60 },
      { period: Duration.minutes(30), leastReports: 5 },
    ],
  },
];
