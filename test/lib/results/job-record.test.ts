import { describe, expect, it } from 'vitest';
import { readRecord } from '../../../lib/results/job-record.ts';

const every = { form: 2, writer: 'w', attempt: 'a', attempts: 1, isRetry: false, fingerprint: 'f' };
const times = { executionId: 'q1', bytesScanned: 1, submittedAt: 1, completedAt: 2, engineMs: 1 };
const ended = { ...every, ...times, isOfVersion: true };
const starting = { state: 'starting', ...every };
const underWay = { state: 'under-way', ...every, executionId: 'q1', elapsedMs: 5 };
const publishing = { state: 'publishing', ...ended, files: {}, location: 's3://b/k' };
const done = { state: 'done', ...ended, files: {} };
const failed = { state: 'failed', ...ended, why: 'engine', reason: 'FAILED: x', seenAfterMs: 3 };
const least = [starting, underWay, publishing, done, failed];
const optional = { follows: 'w', slot: 's' };
const report = { ...optional, endedForMs: 5, goodForMs: 5, rows: 7 };
const most = [
  { ...starting, ...optional, leaseMs: 5 },
  { ...underWay, ...optional, leaseMs: 5, runningAt: 7, hasRun: true, isStopped: true },
  { ...publishing, ...report, files: { gzip: 2 } },
  { ...done, ...report, files: { plain: 1, gzip: 2 } },
  { ...failed, ...optional, endedForMs: 5, limit: 10 },
  ...['retryable', 'data-changed', 'too-long', 'too-large', 'lost', 'unreadable', 'unpublished'].map(
    (why) => ({ ...failed, why }),
  ),
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
    ['of the previous format version', { ...starting, form: 1 }],
    ['of a state of release 1.0.0', { ...done, state: 'succeeded' }],
    ['with a lease that is text', { ...starting, leaseMs: '5' }],
    ['of an unknown failure', { ...failed, why: 'weather' }],
    ['with a size that is text', { ...done, files: { plain: '2' } }],
    ['that is no object', 'starting'],
    ['that is no JSON', undefined],
  ])('treats a record %s as absent', (_, document) => {
    expect(read(document)).toBeUndefined();
  });
});
