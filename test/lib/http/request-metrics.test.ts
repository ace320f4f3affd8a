import { describe, expect, it, vi } from 'vitest';
import { countAnswer, type LoggedFacts, type MetricSink } from '../../../lib/http/request-log.ts';

type QueryEnd = NonNullable<LoggedFacts['finishedQueries']>[number];

const counted = (facts: LoggedFacts, status: number | undefined, endsReport = true) => {
  const added: string[] = [];
  const publishStoredMetrics = vi.fn();
  const addMetric = (name: string, unit: string, value: number) => added.push(`${name} ${value} ${unit}`);
  const sink = { addMetric, publishStoredMetrics } as unknown as MetricSink;
  countAnswer(sink, facts, { status, endsReport });
  expect(publishStoredMetrics).toHaveBeenCalledTimes(added.length > 0 ? 1 : 0);
  return added.sort();
};

const figures = { bytesScanned: 123, queryMs: 45 };
const ended = (state: QueryEnd['state'], of = figures) => ({ state, ...of });
/** The facts of the request that recorded the query's end. */
const ran = (state: QueryEnd['state']) => ({ ...figures, finishedQueries: [ended(state)] });
const none = { bytesScanned: 0, queryMs: 0 };
const second = ended('succeeded', { bytesScanned: 7, queryMs: 8 });
const REPORT = 'Reports 1 Count';
const QUERY = ['BytesScanned 123 Bytes', 'QueryDuration 45 Milliseconds'];
const SECOND = ['BytesScanned 7 Bytes', 'QueryDuration 8 Milliseconds'];
const BOTH = [...QUERY, ...SECOND, 'FailedQueries 1 Count', REPORT].sort();
const NONE = ['BytesScanned 0 Bytes', 'QueryDuration 0 Milliseconds'];
const FAILED = [...NONE, 'FailedQueries 1 Count', 'FailedReports 1 Count'].sort();

describe('countAnswer', () => {
  // CloudWatch sums and counts all values under one name: each ended query adds one value.
  it.each<[string, LoggedFacts, number | undefined, string[]]>([
    ['a report', { isReady: true, cacheStatus: 'hit' }, 303, [REPORT]],
    ['its query', { isReady: true, ...ran('succeeded') }, 303, [...QUERY, REPORT]],
    ['a query over the scan limit', ran('scan-limit-exceeded'), 400, QUERY],
    ['a failed query without figures', { finishedQueries: [ended('failed', none)] }, 500, FAILED],
    ['a failed query and the next', { isReady: true, finishedQueries: [ended('failed'), second] }, 303, BOTH],
    ['throttled starts', { throttledStarts: 3 }, 303, ['ThrottledStarts 3 Count']],
    ['a 503', {}, 503, ['FailedReports 1 Count', 'Unavailable 1 Count']],
    ['a report that ends with 500 as failed', { isReady: false }, 500, ['FailedReports 1 Count']],
    ['a report that ends without a status as failed', {}, undefined, ['FailedReports 1 Count']],
    ['a ready report as failed if its answer failed', { isReady: true }, 500, ['FailedReports 1 Count']],
    ['no redirect to the waiting room', { ...figures, isReady: false, cacheStatus: 'miss' }, 303, []],
    ['no 400', {}, 400, []],
  ])('counts %s', (_, facts, status, expected) => {
    expect(counted(facts, status)).toEqual(expected);
  });

  it('counts no failed report on a route that gives no reports', () => {
    expect([counted({}, 503, false), counted({}, 500, false)]).toEqual([['Unavailable 1 Count'], []]);
  });
});
