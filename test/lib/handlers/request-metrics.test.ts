import { describe, expect, it } from 'vitest';
import { QueryFailed } from '../../../lib/delivery/query-failed.ts';
import type { LoggedFacts } from '../../../lib/handlers/logged-facts.ts';
import { countAnswer, type MetricSink } from '../../../lib/handlers/request-metrics.ts';

const counted = (facts: LoggedFacts, answer: { status: number; error?: unknown }) => {
  const metrics: Record<string, number> = {};
  let published = 0;
  const sink = {
    addMetric: (name: string, _unit: string, value: number) => {
      metrics[name] = value;
    },
    publishStoredMetrics: () => {
      published += 1;
    },
  };
  countAnswer(sink as unknown as MetricSink, facts, answer);
  expect(published).toBe(Object.keys(metrics).length > 0 ? 1 : 0);
  return metrics;
};

const query = { isPublished: true, bytesScanned: 123, queryMs: 45 };

describe('countAnswer', () => {
  it('counts a delivered report, and its query by the request that had it started', () => {
    expect(counted({ ...query, cacheStatus: 'miss' }, { status: 303 })).toEqual({
      Reports: 1,
      BytesScanned: 123,
      QueryDuration: 45,
    });
    expect(counted({ ...query, cacheStatus: 'collapsed' }, { status: 303 })).toEqual({ Reports: 1 });
    expect(counted({ isPublished: true, cacheStatus: 'hit' }, { status: 303 })).toEqual({ Reports: 1 });
  });

  it('counts nothing while a caller waits, or is at fault', () => {
    expect(counted({ ...query, isPublished: false, cacheStatus: 'miss' }, { status: 303 })).toEqual({});
    expect(counted({}, { status: 400 })).toEqual({});
  });

  it('counts what the alarms ring for', () => {
    expect(counted({}, { status: 503 })).toEqual({ Unavailable: 1 });
    expect(counted({}, { status: 500, error: new QueryFailed('x') })).toEqual({ FailedQueries: 1 });
  });
});
