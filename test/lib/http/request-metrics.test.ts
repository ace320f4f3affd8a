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

describe('countAnswer', () => {
  it('counts a delivered report', () => {
    expect(counted({ isReady: true, cacheStatus: 'hit' }, 303)).toEqual({ Reports: ['Count', 1] });
  });

  it('counts a query for the request that recorded its end, and for no other', () => {
    expect(
      counted({ ...figures, isReady: true, finishedQueries: [{ state: 'succeeded', ...figures }] }, 303),
    ).toEqual({ Reports: ['Count', 1], BytesScanned: ['Bytes', 123], QueryDuration: ['Milliseconds', 45] });
    expect(counted({ ...figures, isReady: true }, 303)).toEqual({ Reports: ['Count', 1] });
  });

  it('counts the bytes of a query that exceeded the scan limit, but no failure', () => {
    expect(
      counted({ ...figures, finishedQueries: [{ state: 'scan-limit-exceeded', ...figures }] }, 400),
    ).toEqual({ BytesScanned: ['Bytes', 123], QueryDuration: ['Milliseconds', 45] });
  });

  it('counts a failed query, with zeros if Athena gave no figures', () => {
    expect(counted({ finishedQueries: [{ state: 'failed', bytesScanned: 0, queryMs: 0 }] }, 500)).toEqual({
      BytesScanned: ['Bytes', 0],
      QueryDuration: ['Milliseconds', 0],
      FailedQueries: ['Count', 1],
      FailedReports: ['Count', 1],
    });
  });

  it('counts both queries of a request whose first query failed and whose second one succeeded', () => {
    const finishedQueries = [
      { state: 'failed', ...figures },
      { state: 'succeeded', bytesScanned: 7, queryMs: 8 },
    ] as const;
    expect(counted({ bytesScanned: 7, queryMs: 8, isReady: true, finishedQueries }, 303)).toEqual({
      Reports: ['Count', 1],
      BytesScanned: ['Bytes', 123, 7],
      QueryDuration: ['Milliseconds', 45, 8],
      FailedQueries: ['Count', 1],
    });
  });

  it('counts the throttled starts of queries, whatever became of the request', () => {
    expect(counted({ throttledStarts: 3 }, 303)).toEqual({ ThrottledStarts: ['Count', 3] });
  });

  it('counts every 503 answer', () => {
    expect(counted({}, 503, false)).toEqual({ Unavailable: ['Count', 1] });
    expect(counted({}, 503)).toEqual({ Unavailable: ['Count', 1], FailedReports: ['Count', 1] });
  });

  it.each([500, 502, undefined])('counts a report that ends with the status %s as failed', (status) => {
    expect(counted({}, status)).toEqual({ FailedReports: ['Count', 1] });
    expect(counted({ isReady: false }, status)).toEqual({ FailedReports: ['Count', 1] });
  });

  it('counts a ready report as failed, not as delivered, if its answer failed', () => {
    expect(counted({ isReady: true }, 500)).toEqual({ FailedReports: ['Count', 1] });
  });

  it('counts no failed report on a route that gives no reports', () => {
    expect(counted({}, 500, false)).toEqual({});
  });

  it('counts nothing for a redirect to the waiting room or a 4xx', () => {
    expect(counted({ ...figures, isReady: false, cacheStatus: 'miss' }, 303)).toEqual({});
    expect(counted({}, 400)).toEqual({});
    expect(counted({}, 404)).toEqual({});
  });
});
