import { describe, expect, it } from 'vitest';
import { makeJob } from '../../../lib/delivery/job.ts';
import { advertiserReport, publisherReport } from '../../../lib/report/catalogue.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';

const data = { version: 'v1' };
const requestFor = (more: Record<string, string[]> = {}, report = publisherReport) =>
  parseRequest(report, {
    accept: undefined,
    parameters: {
      requestedFields: ['Day,Clicks'],
      startInclusive: ['2026-01-01T00:00:00Z'],
      endExclusive: ['2026-02-01T12:30:45Z'],
      'api-version': ['1.0'],
      ...more,
    },
  });
const job = makeJob(requestFor(), 'every-company', data);

describe('a job', () => {
  it('has an id, a file name, and columns in the requested order', () => {
    expect(job.id).toMatch(/^[0-9a-f]{64}$/);
    expect(job.fileName).toBe('publisherperformance_20260101T000000Z_20260201T123045Z.csv');
    expect(makeJob(requestFor({ requestedFields: ['Revenue,Day'] }), [1n], data).columns).toEqual([
      { name: 'Revenue', type: 'float' },
      { name: 'Day', type: 'datetime' },
    ]);
  });

  it('is the same for an equal request for the same rows of the same data', () => {
    expect(makeJob(requestFor(), 'every-company', data)).toEqual(job);
  });

  it.each<[string, ReturnType<typeof makeJob>]>([
    ['other data', makeJob(requestFor(), 'every-company', { version: 'v2' })],
    ['other rows', makeJob(requestFor(), [7n], data)],
    ['other fields', makeJob(requestFor({ requestedFields: ['Day,Opens'] }), 'every-company', data)],
    [
      'fields in another order',
      makeJob(requestFor({ requestedFields: ['Clicks,Day'] }), 'every-company', data),
    ],
    ['another end', makeJob(requestFor({ endExclusive: ['2026-02-01T12:30:46Z'] }), 'every-company', data)],
    [
      'a filter with the value 1',
      makeJob(requestFor({ 'filter[PlacementId]': ['1'] }), 'every-company', data),
    ],
    [
      'a filter with the value 2',
      makeJob(requestFor({ 'filter[PlacementId]': ['2'] }), 'every-company', data),
    ],
    ['another report', makeJob(requestFor({}, advertiserReport), 'every-company', data)],
  ])('has another id for %s', (_, other) => {
    expect(other.id).not.toBe(job.id);
  });

  it.each([
    ['DateTime', ['2026-01-02T03:00:00Z', '2026-01-02T03:00:00Z']],
    ['Day', ['2026-01-02T00:00:00Z', '2026-01-02T00:00:00Z']],
    ['DeviceOrProxy', ['phone', 'phone']],
    ['PlacementId', ['7', '007']],
    ['PlacementId', ['0', '-0']],
  ])('is the same if a filter on %s gives one value twice, %j', (field, values) => {
    const withValues = (given: string[]) =>
      makeJob(requestFor({ [`filter[${field}]`]: given }), 'every-company', data);
    expect(withValues(values)).toEqual(withValues(values.slice(0, 1)));
  });

  it('has another id for each set of values of a filter', () => {
    const idWith = (...values: string[]) =>
      makeJob(requestFor({ 'filter[PlacementId]': values }), 'every-company', data).id;
    expect(new Set([idWith('1'), idWith('2'), idWith('1', '2')]).size).toBe(3);
  });
});
