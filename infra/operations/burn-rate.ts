import { Duration } from 'aws-cdk-lib';

/** Of a hundred requests in a month, half a one may be answered 5xx: the error budget. */
const BUDGET = 0.005;

/**
 * One speed at which the error budget is used up. It rings where both windows are above the share: the long one says
 * that it matters, the short one that it goes on.
 */
export interface BurnRate {
  readonly name: string;
  readonly suffering: string;
  /** Of requests that are answered 5xx, in either window. */
  readonly share: number;
  readonly windows: readonly [BurnWindow, BurnWindow];
}

interface BurnWindow {
  readonly period: Duration;
  /** With fewer, one failed request would be a large share. The probe watches where nobody asks. */
  readonly leastRequests: number;
}

/** What a budget for thirty days is gone in: two days, and five. */
export const burnRates: readonly BurnRate[] = [
  {
    name: 'reports-fail-fast',
    suffering: 'One request in fourteen is answered 5xx, for an hour: partners do not get their reports.',
    share: 14.4 * BUDGET,
    windows: [
      { period: Duration.hours(1), leastRequests: 20 },
      { period: Duration.minutes(5), leastRequests: 2 },
    ],
  },
  {
    name: 'reports-fail-slowly',
    suffering:
      'One request in thirty-three is answered 5xx, for six hours: some partners do not get their reports.',
    share: 6 * BUDGET,
    windows: [
      { period: Duration.hours(6), leastRequests: 60 },
      { period: Duration.minutes(30), leastRequests: 5 },
    ],
  },
];
