import { Duration } from 'aws-cdk-lib';
import type { Severity } from './alarm-list.ts';

/**
 * The error budget: the share of a month's reports that may fail. A report is asked for, and ends delivered, refused for
 * a fault of the caller's (4xx), or failed by us: hops of the waiting room and downloads are not counted.
 */
const BUDGET = 0.005;

/**
 * One speed at which the error budget is used up. The alarm rings where both windows are at the share or above: the
 * long one says that it matters, the short one that it still goes on.
 */
export interface BurnRate {
  readonly name: string;
  readonly severity: Severity;
  readonly impact: string;
  /** Of reports that fail, in either window. */
  readonly share: number;
  readonly windows: readonly [BurnWindow, BurnWindow];
}

interface BurnWindow {
  readonly period: Duration;
  /** With fewer, one failed report would be a large share. While there are so few, the probe still watches. */
  readonly leastReports: number;
}

/** At the first rate, a budget for thirty days is used up in two days; at the second one, in five. */
export const burnRates: readonly BurnRate[] = [
  {
    name: 'reports-fail-fast',
    severity: 'page',
    impact: 'One report in fourteen has failed for an hour: partners are answered 5xx.',
    share: 14.4 * BUDGET,
    windows: [
      { period: Duration.hours(1), leastReports: 20 },
      { period: Duration.minutes(5), leastReports: 2 },
    ],
  },
  {
    name: 'reports-fail-slowly',
    // At this rate the budget lasts for five days: until the morning.
    severity: 'ticket',
    impact: 'One report in thirty-three has failed for six hours: some partners are answered 5xx.',
    share: 6 * BUDGET,
    windows: [
      { period: Duration.hours(6), leastReports: 60 },
      { period: Duration.minutes(30), leastReports: 5 },
    ],
  },
];
