import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Overloaded } from '../../../lib/answers/problem.ts';
import { AwsCallFailed } from '../../../lib/aws/aws-call-failed.ts';
import { zippedBeside } from '../../../lib/delivery/zipped-file.ts';
import { memoryBucket } from './memory-bucket.ts';
import { CSV, LARGE } from './setting.ts';

const KEY = 'reports/q1/report.csv';
const ZIPPED = `${KEY}.gz`;
const metadata = { 'query-execution-id': 'q1', 'data-version': 'v1' };

async function bucketWithReport() {
  const results = memoryBucket();
  const content = async () =>
    (async function* () {
      yield Buffer.from(CSV);
    })();
  await results.writeOnce(KEY, { fileName: 'report.csv', metadata }, content, 1);
  results.calls.length = 0;
  return results;
}

describe('zippedBeside', () => {
  it('makes the zipped file from the plain one, with its metadata', async () => {
    const results = await bucketWithReport();
    expect(await zippedBeside(results, KEY)).toBe(ZIPPED);
    const zipped = results.objects.get(ZIPPED);
    expect(zipped?.file).toEqual({ fileName: 'report.csv', metadata, encoding: 'gzip' });
    expect(gunzipSync(zipped?.content as Buffer).toString()).toBe(CSV);
  });

  it('takes the zipped file that was found, without a call', async () => {
    const results = await bucketWithReport();
    expect(await zippedBeside(results, ZIPPED)).toBe(ZIPPED);
    expect(results.calls).toEqual([]);
  });

  it('leaves a zipped file that another request has made meanwhile as it is', async () => {
    const results = await bucketWithReport();
    const { etag } = results.put(ZIPPED, {});
    expect(await zippedBeside(results, KEY)).toBe(ZIPPED);
    expect(results.objects.get(ZIPPED)?.etag).toBe(etag);
  });

  it('is the same file for many who ask at once', async () => {
    const results = await bucketWithReport();
    const keys = await Promise.all(Array.from({ length: 20 }, () => zippedBeside(results, KEY)));
    expect(new Set(keys)).toEqual(new Set([ZIPPED]));
  });

  it('is the plain one where that is too large to be zipped while a caller waits', async () => {
    const results = memoryBucket();
    results.putResult(`s3://results/${KEY}`, CSV, LARGE);
    expect(await zippedBeside(results, KEY)).toBe(KEY);
    expect([...results.objects.keys()]).toEqual([KEY]);
  });

  it('is the plain one where that is gone, before or while it is opened', async () => {
    expect(await zippedBeside(memoryBucket(), KEY)).toBe(KEY);
    const results = await bucketWithReport();
    results.before(`openFile ${KEY}`, () => results.objects.delete(KEY));
    expect(await zippedBeside(results, KEY)).toBe(KEY);
    expect(results.objects.size).toBe(0);
  });

  it.each(['head', 'writeOnce', 'openFile'])(
    'is the plain one where S3 has no time for a %s',
    async (call) => {
      const results = await bucketWithReport();
      results.before(call, () => {
        throw new Overloaded('Later.', 30);
      });
      expect(await zippedBeside(results, KEY)).toBe(KEY);
      expect([...results.objects.keys()]).toEqual([KEY]);
    },
  );

  it('throws what else goes wrong', async () => {
    const results = await bucketWithReport();
    const boom = new AwsCallFailed('S3 PutObject', new Error('boom'));
    results.before('writeOnce', () => {
      throw boom;
    });
    await expect(zippedBeside(results, KEY)).rejects.toBe(boom);
  });
});
