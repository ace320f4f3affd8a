import { Duration } from 'aws-cdk-lib';
import type { Severity } from './alarm-list.ts';

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
