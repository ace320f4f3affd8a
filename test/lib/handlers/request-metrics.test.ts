import { describe, expect, it } from 'vitest';
import type { LoggedFacts } from '../../../lib/handlers/logged-facts.ts';
import { countAnswer, type MetricSink } from '../../../lib/handlers/request-metrics.ts';

const counted = (facts: LoggedFacts, status: number) => {
  const metrics: [name: string, unit: string, value: number][] = [];
  let published = 0;
  const sink = {
    addMetric: (name: string, unit: string, value: number) => {
      metrics.push([name, unit, value]);
    },
    publishStoredMetrics: () => {
      published += 1;
    },
  };
  countAnswer(sink as unknown as MetricSink, facts, { status });
  expect(published).toBe(metrics.length > 0 ? 1 : 0);
  return metrics;
};

const end = { state: 'succeeded', bytesScanned: 123, queryMs: 45 } as const;

describe('countAnswer', () => {
  it('counts a delivered report', () => {
    expect(counted({ isReady: true, cacheStatus: 'hit' }, 303)).toEqual([['Reports', 'Count', 1]]);
  });

  it('counts a query by the request that recorded its end, and by no other that learnt of it', () => {
    expect(counted({ isReady: true, ends: [end] }, 303)).toEqual([
      ['Reports', 'Count', 1],
      ['BytesScanned', 'Bytes', 123],
      ['QueryDuration', 'Milliseconds', 45],
    ]);
    const learnt = { bytesScanned: 123, queryMs: 45, isReady: true };
    expect(counted(learnt, 303)).toEqual([['Reports', 'Count', 1]]);
  });

  it('counts the bytes of a query that was cut off, which is no failure', () => {
    expect(counted({ ends: [{ ...end, state: 'cut-off' }] }, 400)).toEqual([
      ['BytesScanned', 'Bytes', 123],
      ['QueryDuration', 'Milliseconds', 45],
    ]);
  });

  it('counts every query whose end one request has recorded, a failed one and its retry', () => {
    const failed = { state: 'failed', bytesScanned: 7, queryMs: 8 } as const;
    expect(counted({ ends: [failed, end] }, 303)).toEqual([
      ['BytesScanned', 'Bytes', 7],
      ['QueryDuration', 'Milliseconds', 8],
      ['FailedQueries', 'Count', 1],
      ['BytesScanned', 'Bytes', 123],
      ['QueryDuration', 'Milliseconds', 45],
    ]);
  });

  it('counts every answer 503', () => {
    expect(counted({}, 503)).toEqual([['Unavailable', 'Count', 1]]);
  });

  it('counts nothing while a caller waits, is at fault, or meets an error of ours', () => {
    expect(counted({ isReady: false, cacheStatus: 'miss' }, 303)).toEqual([]);
    expect(counted({}, 400)).toEqual([]);
    expect(counted({}, 500)).toEqual([]);
  });
});
