import { describe, expect, it } from 'vitest';
import { copyKey, fileKey, makeOrder, recordKey, tokenOf } from '../../../lib/delivery/order.ts';
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
const order = makeOrder(requestFor(), 'every-company', data);

describe('an order', () => {
  it('has an id, a file name, and columns in the order that was requested', () => {
    expect(order.id).toMatch(/^[0-9a-f]{64}$/);
    expect(order.fileName).toBe('publisherperformance_20260101T000000Z_20260201T123045Z.csv');
    expect(makeOrder(requestFor({ requestedFields: ['Revenue,Day'] }), [], data).columns).toEqual([
      { name: 'Revenue', type: 'float' },
      { name: 'Day', type: 'datetime' },
    ]);
  });

  it('is the same for the same request for the same rows of the same data', () => {
    expect(makeOrder(requestFor(), 'every-company', data)).toEqual(order);
  });

  it.each<[string, ReturnType<typeof makeOrder>]>([
    ['other data', makeOrder(requestFor(), 'every-company', { version: 'v2' })],
    ['other rows', makeOrder(requestFor(), [7n], data)],
    ['other fields', makeOrder(requestFor({ requestedFields: ['Day,Opens'] }), 'every-company', data)],
    [
      'fields in another order',
      makeOrder(requestFor({ requestedFields: ['Clicks,Day'] }), 'every-company', data),
    ],
    ['another end', makeOrder(requestFor({ endExclusive: ['2026-02-01T12:30:46Z'] }), 'every-company', data)],
    ['a filter', makeOrder(requestFor({ 'filter[PlacementId]': ['1'] }), 'every-company', data)],
    [
      'a filter of another value',
      makeOrder(requestFor({ 'filter[PlacementId]': ['2'] }), 'every-company', data),
    ],
    ['another report', makeOrder(requestFor({}, advertiserReport), 'every-company', data)],
  ])('has another id and another token for %s', (_, other) => {
    expect(other.id).not.toBe(order.id);
    expect(tokenOf(other, 't', undefined)).not.toBe(tokenOf(order, 't', undefined));
  });

  it('keeps its copy under its id, a record for each trace beside it, and its file under the execution', () => {
    expect(copyKey(order)).toBe(`orders/${order.id}.json`);
    expect(recordKey(order, { trace: 'trace-1' })).toBe(`orders/${order.id}/trace-1.json`);
    expect(fileKey(order, 'q1')).toBe(`reports/q1/${order.fileName}`);
  });
});

describe('tokenOf', () => {
  const token = tokenOf(order, 'trace', undefined);

  it('fits Athena, and is the same on every machine', () => {
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(tokenOf({ ...order }, 'trace', undefined)).toBe(token);
  });

  it.each<[string, string]>([
    ['another listing', tokenOf(order, 'other', undefined)],
    ['the next try', tokenOf(order, 'trace', token)],
    ['another predecessor', tokenOf(order, 'trace', 'x')],
    ['another SQL', tokenOf({ ...order, query: { ...order.query, sql: 'SELECT 1' } }, 'trace', undefined)],
    [
      'other parameters',
      tokenOf({ ...order, query: { ...order.query, parameters: ['1'] } }, 'trace', undefined),
    ],
  ])('is another for %s', (_, other) => {
    expect(other).not.toBe(token);
  });
});
