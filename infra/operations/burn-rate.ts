import { Duration } from 'aws-cdk-lib';

/** The error budget: the share of a month's requests that may be answered 5xx. */
const BUDGET = 0.005;

/**
 * One speed at which the error budget is used up. The alarm rings where both windows are at the share or above: the
 * long one says that it matters, the short one that it still goes on.
 */
export interface BurnRate {
  readonly name: string;
  readonly impact: string;
  /** Of requests that are answered 5xx, in either window. */
  readonly share: number;
  readonly windows: readonly [BurnWindow, BurnWindow];
}

interface BurnWindow {
  readonly period: Duration;
  /** With fewer, one failed request would be a large share. While there are so few, the probe still watches. */
  readonly leastRequests: number;
}

/** At the first rate, a budget for thirty days is used up in two days; at the second one, in five. */
export const burnRates: readonly BurnRate[] = [
  {
    name: 'reports-fail-fast',
    impact: 'One request in fourteen is answered 5xx, for an hour: partners do not get their reports.',
    share: 14.4 * BUDGET,
    windows: [
      { period: Duration.hours(1), leastRequests: 20 },
      { period: Duration.minutes(5), leastRequests: 2 },
    ],
  },
  {
    name: 'reports-fail-slowly',
    impact:
      'One request in thirty-three is answered 5xx, for six hours: some partners do not get their reports.',
    share: 6 * BUDGET,
    windows: [
      { period: Duration.hours(6), leastRequests: 60 },
      { period: Duration.minutes(30), leastRequests: 5 },
    ],
  },
];
