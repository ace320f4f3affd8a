import { describe, expect, it } from 'vitest';
import { isOpen, type JobRecord, readRecord } from '../../../lib/results/job-record.ts';

const every = { form: 2, writer: 'w', attempt: 'a' };
const open = { ...every, isRetry: false };
const ended = { ...every, executionId: 'q1', bytesScanned: 1, submittedAt: 1, completedAt: 2, engineMs: 1 };
const least = [
  { state: 'starting', ...open },
  { state: 'under-way', ...open, executionId: 'q1', elapsedMs: 5 },
  { state: 'succeeded', ...ended, location: 's3://b/k', resultBytes: 9, isOfVersion: true },
  { state: 'scan-limit-exceeded', ...ended },
  { state: 'failed', ...ended, seenAfterMs: 3, reason: 'FAILED: x' },
];
const most = [
  { ...least[0], leaseMs: 5, slot: 's', attempts: 2, follows: 'w' },
  { ...least[1], leaseMs: 5, slot: 's', runningAt: 7, hasRun: true },
  { ...least[2], slot: 's', goodForMs: 5, files: { plain: 1, gzip: 2 } },
  { ...least[2], files: { plain: 1 } },
  { ...least[3], slot: 's', limit: 10 },
  { ...least[4], slot: 's', cause: 'data-changed' },
  { ...least[4], cause: 'took-too-long' },
  { ...least[4], cause: 'not-repeated', isRetry: true },
];
const read = (document: unknown) => readRecord({ document, etag: '"1"', ageMs: 0 });

describe('readRecord', () => {
  it.each([...least, ...most])('reads every member of a record in the state $state: %o', (record) => {
    expect(read(structuredClone(record))).toEqual(record);
  });

  it.each(
    least.flatMap((record) => Object.keys(record).map((field) => [record.state, field, record] as const)),
  )('treats a record in the state %s without %s as absent', (_state, field, record) => {
    expect(read({ ...record, [field]: undefined })).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['of the previous format version', { ...least[0], form: 1 }],
    ['of an unknown format version', { ...least[0], form: 3 }],
    ['of an unknown state', { ...least[0], state: 'paused' }],
    ['with a lease that is text', { ...least[0], leaseMs: '5' }],
    ['of an unknown cause', { ...least[4], cause: 'weather' }],
    ['whose plain file has no size', { ...least[2], files: { gzip: 2 } }],
    ['that is no object', 'starting'],
    ['that is null', null],
    ['that is no JSON', undefined],
  ])('treats a record %s as absent', (_, document) => {
    expect(read(document)).toBeUndefined();
  });

  it('finds no record if nothing is stored', () => {
    expect(readRecord(undefined)).toBeUndefined();
  });
});

describe('isOpen', () => {
  it('is true until the attempt has ended', () => {
    expect(least.map((record) => isOpen(record as JobRecord))).toEqual([true, true, false, false, false]);
  });
});
