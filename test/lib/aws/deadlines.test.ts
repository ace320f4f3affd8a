import type { S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AwsCallFailed } from '../../../lib/aws/answers.ts';
import { s3LargeFiles } from '../../../lib/aws/large-files.ts';
import { s3ResultsBucket } from '../../../lib/aws/results-bucket.ts';
import { Overloaded } from '../../../lib/problems/problem.ts';
import type { ResultsBucket } from '../../../lib/results/results-bucket.ts';

let aborted = 0;
beforeEach(() => {
  aborted = 0;
});
afterEach(() => void vi.restoreAllMocks());

/** Only a call that nobody aborts waits so long for its answer. */
const HANGS_MS = 5_000;

/** A client of an S3 that never answers. A call ends when its signal aborts it. */
const silent = {
  send: (_command: unknown, options: { readonly abortSignal?: AbortSignal } = {}) =>
    new Promise((_, reject) => {
      const timer = setTimeout(() => reject(new Error('nobody aborted this call')), HANGS_MS);
      options.abortSignal?.addEventListener('abort', () => {
        clearTimeout(timer);
        aborted += 1;
        reject(options.abortSignal?.reason);
      });
    }),
} as unknown as S3Client;

const LOCATION = 's3://results/athena/q1.csv';
const file = { fileName: 'report.csv', executionId: 'q1' };
const document = { etag: '"1"', document: {}, ageMs: 0 };
const soon = () => Date.now() + 50;
const results = () => s3ResultsBucket(silent, 'results', soon());

describe('a call to an S3 that does not answer', () => {
  it.each<[string, string, () => Promise<unknown>]>([
    ['head', 'HeadObject', () => results().head('jobs/1.json')],
    ['read', 'GetObject', () => results().read('jobs/1.json')],
    ['create', 'PutObject', () => results().create('jobs/1.json', {})],
    ['replace', 'PutObject', () => results().replace(document, 'jobs/1.json', {})],
    ['readResult', 'GetObject', () => results().readResult(LOCATION, 9)],
    ['writeFile', 'PutObject', () => results().writeFile('reports/q1/report.csv', file, Buffer.from('a'))],
    ['openResult', 'GetObject', () => s3LargeFiles(silent, 'results', soon()).openResult(LOCATION)],
  ])('is aborted when its time is up: %s, and the error names %s', async (_, operation, make) => {
    const error: unknown = await make().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Overloaded);
    expect(error).toMatchObject({ cause: { operation: `S3 ${operation}` } });
    expect(aborted).toBe(1);
  });

  it.each<[string, (bucket: ResultsBucket) => Promise<unknown>]>([
    ['readResult', (bucket) => bucket.readResult(LOCATION, 9)],
    ['writeFile', (bucket) => bucket.writeFile('reports/q1/report.csv', file, Buffer.from('a'))],
  ])('has five seconds for a try if it moves content: %s', async (_, make) => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    const refusing = { send: () => Promise.reject(new TypeError('refused')) } as unknown as S3Client;
    await expect(make(s3ResultsBucket(refusing, 'results', Date.now() + 60_000))).rejects.toThrow(
      AwsCallFailed,
    );
    expect(timeout.mock.calls).toEqual([[5_000]]);
  });
});
