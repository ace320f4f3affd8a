import { describe, expect, it } from 'vitest';
import type { OrderRecord } from '../../../lib/delivery/order-record.ts';
import { isUnderWay, judgeShare, type Lease, readLeases, shareKey } from '../../../lib/delivery/share.ts';
import { succeededRecord } from './setting.ts';

const NOW = 1_000_000;
const lease = (record: string, more: Partial<Lease> = {}): Lease => ({
  record,
  takenAt: NOW,
  until: NOW + 600_000,
  ...more,
});
const [a, b, wanted] = [lease('a'), lease('b'), lease('wanted')];

describe('judgeShare', () => {
  it.each([
    ['nothing is under way', [], 1, { next: 'take', leases: [wanted] }],
    ['there is room', [a], 2, { next: 'take', leases: [a, wanted] }],
    ['there is no room', [a, b], 2, { next: 'wait' }],
    ['the bound was lowered below what is held', [a, b], 1, { next: 'wait' }],
    [
      'a lease has run out of time',
      [lease('a', { until: NOW }), b],
      2,
      { next: 'take', leases: [b, wanted] },
    ],
    [
      'another request has taken the same lease',
      [a, lease('wanted', { takenAt: NOW - 1 })],
      1,
      { next: 'start' },
    ],
    [
      'the order had a try before',
      [lease('wanted', { takenAt: NOW - 1, after: 'token-0' }), a],
      2,
      { next: 'take', leases: [a, wanted] },
    ],
  ])('decides where %s', (_, held, most, verdict) => {
    expect(judgeShare(held, wanted, most)).toEqual(verdict);
  });
});

describe('isUnderWay', () => {
  const open = (more: object): OrderRecord => ({
    form: 1,
    state: 'starting',
    token: 'token-1',
    trace: 'trace-1',
    askedUntil: NOW + 25_000,
    claim: 'claim-1',
    isRetry: false,
    startedFor: 'client-1',
    ...more,
  });
  it.each([
    ['its try is claimed', a, open({}), true],
    ['its query could not be started', a, open({ askedUntil: 0 }), false],
    ['its query is started in the last moment of its request', a, open({ askedUntil: NOW - 2_500 }), true],
    ['its request has ended without a word of its query', a, open({ askedUntil: NOW - 5_000 }), false],
    [
      'nobody asks any more about a query that runs',
      a,
      open({ state: 'under-way', executionId: 'x', askedUntil: 0 }),
      true,
    ],
    ['its try is claimed for another client', a, open({ startedFor: 'client-2' }), false],
    ['its try is of an older version, which knew no shares', a, open({ startedFor: undefined }), false],
    ['its query has ended', a, succeededRecord(), false],
    ['nothing is claimed yet', a, undefined, true],
    [
      'what is recorded is the try before',
      lease('a', { after: 'token-1' }),
      succeededRecord({ token: 'token-1' }),
      true,
    ],
    [
      'nothing was claimed for longer than a request lives',
      lease('a', { takenAt: NOW - 30_000 }),
      undefined,
      false,
    ],
  ])('where %s', (_, of, record, expected) => {
    expect(isUnderWay(of, record, 'client-1', NOW)).toBe(expected);
  });
});

describe('readLeases', () => {
  it('reads what was written, and nothing of another form', () => {
    const document = { form: 1, leases: [lease('a', { after: 'token-0' })] };
    expect(readLeases({ document, etag: '' })).toEqual(document.leases);
    expect(readLeases({ document: { ...document, form: 2 }, etag: '' })).toEqual([]);
    expect(readLeases(undefined)).toEqual([]);
  });
});

describe('shareKey', () => {
  it('differs by client, and is safe in S3 whatever the client is called', () => {
    expect(shareKey('../a')).toMatch(/^shares\/[0-9a-f]{64}\.json$/);
    expect(shareKey('../a')).not.toBe(shareKey('a'));
  });
});
