import { describe, expect, it } from 'vitest';
import { countAnswer, type LoggedFacts, type MetricSink } from '../../../lib/http/request-log.ts';

const counted = (facts: LoggedFacts, status: number | undefined, endsReport = true) => {
  const metrics: Record<string, [string, ...number[]]> = {};
  let published = 0;
  const sink = {
    addMetric: (name: string, unit: string, value: number) => {
      // CloudWatch sums and counts all values under one name: each ended query adds one value.
      const [knownUnit, ...values] = metrics[name] ?? [unit];
      expect(unit).toBe(knownUnit);
      metrics[name] = [unit, ...values, value];
    },
    publishStoredMetrics: () => {
      published += 1;
    },
  };
  countAnswer(sink as unknown as MetricSink, facts, { status, endsReport });
  expect(published).toBe(Object.keys(metrics).length > 0 ? 1 : 0);
  return metrics;
};

const figures = { bytesScanned: 123, queryMs: 45 };

const succeeded = { state: 'succeeded', ...figures } as const;
const failed = { state: 'failed', ...figures } as const;

describe('countAnswer', () => {
  it.each<[string, LoggedFacts, number | undefined, Record<string, [string, ...number[]]>]>([
    ['a delivered report', { isReady: true, cacheStatus: 'hit' }, 303, { Reports: ['Count', 1] }],
    [
      'a query for the request that recorded its end',
      { ...figures, isReady: true, finishedQueries: [succeeded] },
      303,
      { Reports: ['Count', 1], BytesScanned: ['Bytes', 123], QueryDuration: ['Milliseconds', 45] },
    ],
    [
      'the bytes of a query that exceeded the scan limit, but no failure',
      { ...figures, finishedQueries: [{ ...figures, state: 'scan-limit-exceeded' }] },
      400,
      { BytesScanned: ['Bytes', 123], QueryDuration: ['Milliseconds', 45] },
    ],
    [
      'a failed query, with zeros if Athena gave no figures',
      { finishedQueries: [{ state: 'failed', bytesScanned: 0, queryMs: 0 }] },
      500,
      {
        BytesScanned: ['Bytes', 0],
        QueryDuration: ['Milliseconds', 0],
        FailedQueries: ['Count', 1],
        FailedReports: ['Count', 1],
      },
    ],
    [
      'both queries if the first one failed and the second one succeeded',
      { isReady: true, finishedQueries: [failed, { ...succeeded, bytesScanned: 7, queryMs: 8 }] },
      303,
      {
        Reports: ['Count', 1],
        BytesScanned: ['Bytes', 123, 7],
        QueryDuration: ['Milliseconds', 45, 8],
        FailedQueries: ['Count', 1],
      },
    ],
    ['throttled starts', { throttledStarts: 3 }, 303, { ThrottledStarts: ['Count', 3] }],
    ['a 503', {}, 503, { Unavailable: ['Count', 1], FailedReports: ['Count', 1] }],
    ['a report that ends with 500 as failed', { isReady: false }, 500, { FailedReports: ['Count', 1] }],
    ['a report that ends without a status as failed', {}, undefined, { FailedReports: ['Count', 1] }],
    [
      'a ready report as failed if its answer failed',
      { isReady: true },
      500,
      { FailedReports: ['Count', 1] },
    ],
    ['no redirect to the waiting room', { ...figures, isReady: false, cacheStatus: 'miss' }, 303, {}],
    ['no 400', {}, 400, {}],
  ])('counts %s', (_, facts, status, expected) => {
    expect(counted(facts, status)).toEqual(expected);
  });

  it('counts no failed report on a route that gives no reports', () => {
    expect(counted({}, 503, false)).toEqual({ Unavailable: ['Count', 1] });
    expect(counted({}, 500, false)).toEqual({});
  });
});
