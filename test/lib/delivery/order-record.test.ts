import { describe, expect, it } from 'vitest';
import { readRecord } from '../../../lib/delivery/order-record.ts';

const every = { form: 1, token: 't', trace: 'x' };
const open = { ...every, askedUntil: 5, claim: 'c', isRetry: false };
const ended = { ...every, executionId: 'q1', bytesScanned: 1, submittedAt: 1, completedAt: 2, engineMs: 1 };
const records = [
  { state: 'starting', ...open },
  { state: 'under-way', ...open, executionId: 'q1' },
  {
    state: 'succeeded',
    ...ended,
    location: 's3://results/athena/q1.csv',
    resultBytes: 9,
    isCopy: true,
    goodUntil: 0,
  },
  { state: 'cut-off', ...ended, limit: 10 },
  { state: 'failed', ...ended, reason: 'FAILED: x', hasDataMoved: false },
];
const read = (document: unknown) => readRecord({ document, etag: '"1"' });

describe('readRecord', () => {
  it.each(records)('reads one that is $state, whole', (record) => {
    expect(read(structuredClone(record))).toEqual(record);
  });

  it.each(
    records.flatMap((record) => Object.keys(record).map((field) => [record.state, field, record] as const)),
  )('takes one that is %s, without its %s, for absent', (_state, field, record) => {
    expect(read({ ...record, [field]: undefined })).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['of another form', { ...records[0], form: 2 }],
    ['of an unknown state', { ...records[0], state: 'paused' }],
    ['with a time that is text', { ...records[0], askedUntil: '5' }],
    ['that is no object', 'starting'],
    ['that is null', null],
    ['that is no JSON', undefined],
  ])('takes one %s for absent', (_, document) => {
    expect(read(document)).toBeUndefined();
  });

  it('finds none where nothing is stored', () => {
    expect(readRecord(undefined)).toBeUndefined();
  });
});
