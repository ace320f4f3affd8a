import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
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
  it('makes the zipped file of the plain one, with what that was stored with', async () => {
    const results = await bucketWithReport();
    expect(await zippedBeside(results, KEY)).toBe(ZIPPED);
    const zipped = results.objects.get(ZIPPED);
    expect(zipped?.file).toEqual({ fileName: 'report.csv', metadata, encoding: 'gzip' });
    expect(gunzipSync(zipped?.content as Buffer).toString()).toBe(CSV);
  });

  it('takes the one that is there', async () => {
    const results = await bucketWithReport();
    results.put(ZIPPED, {});
    expect(await zippedBeside(results, KEY)).toBe(ZIPPED);
    expect(results.calls).toEqual([`head ${ZIPPED}`]);
  });

  it('is the same file for many who ask at once', async () => {
    const results = await bucketWithReport();
    const keys = await Promise.all(Array.from({ length: 20 }, () => zippedBeside(results, KEY)));
    expect(new Set(keys)).toEqual(new Set([ZIPPED]));
  });

  it('is none where the plain one is too large to zip while a caller waits', async () => {
    const results = memoryBucket();
    results.putResult(`s3://results/${KEY}`, CSV, LARGE);
    expect(await zippedBeside(results, KEY)).toBeUndefined();
    expect([...results.objects.keys()]).toEqual([KEY]);
  });

  it('is none where the plain one is gone, before or while it is opened', async () => {
    expect(await zippedBeside(memoryBucket(), KEY)).toBeUndefined();
    const results = await bucketWithReport();
    results.before(`openFile ${KEY}`, () => results.objects.delete(KEY));
    expect(await zippedBeside(results, KEY)).toBeUndefined();
  });
});
