import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Upload } from '@aws-sdk/lib-storage';
import { describe, expect, it, vi } from 'vitest';
import { makeUploadClient } from '../../../lib/aws/clients.ts';
import { s3LargeFiles } from '../../../lib/aws/large-files.ts';
import { NotEngineCsv } from '../../../lib/csv/retype-csv.ts';
import { Overloaded } from '../../../lib/problems/problem.ts';
import { Bucket, file, freshFile, location, MIB, resultsStore } from './results-store.ts';

const { store, s3, put, get, head } = await resultsStore(makeUploadClient);

/** The bucket's large files, for calls that end within this many milliseconds. */
const files = (callerWaitMs = 10_000) => s3LargeFiles(s3, Bucket, Date.now() + callerWaitMs);

describe('openResult', () => {
  it('gives a result that can still be read after the deadline for opening it', async () => {
    const body = 'x'.repeat(3 * MIB);
    await put('athena/long.csv', body);
    const bucket = files(500);
    const result = await bucket.openResult(location('athena/long.csv'));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(result && (await text(result)).length).toBe(body.length);
  });
});

describe('uploadFile', () => {
  async function* content(...chunks: (string | Buffer | Error)[]): AsyncIterable<Uint8Array> {
    for (const chunk of chunks) {
      if (chunk instanceof Error) throw chunk;
      yield Buffer.from(chunk);
    }
  }
  const opening = (...chunks: (string | Buffer | Error)[]) => vi.fn(async () => content(...chunks));

  it('writes a large file in parts', async () => {
    const key = freshFile();
    const part = Buffer.alloc(5 * MIB, 'x');
    store.faults.set([{ on: 's3', match: 'PUT reports/' }]);
    expect(await files().uploadFile(key, file, opening(part, part, part, part))).toBe(20 * MIB);
    expect((await head(key)).ContentLength).toBe(20 * MIB);
    // Three parts of at most 8 MiB each.
    expect(store.faults.current()[0]?.matched).toBe(3);
  });

  it('tries a part up to three times before it begins the file again', async () => {
    const key = freshFile();
    const open = opening(Buffer.alloc(9 * MIB, 'x'));
    store.faults.set([{ on: 's3', match: `PUT ${key}`, status: 500, times: 2 }]);
    expect(await files().uploadFile(key, file, open)).toBe(9 * MIB);
    expect([store.struck(), open.mock.calls.length]).toEqual([[2], 1]);
  });

  it('begins the file again, with its content from the start, after three failed tries', async () => {
    const key = freshFile();
    const open = opening('a,b\n');
    store.faults.set([{ on: 's3', match: `PUT ${key}`, status: 500, times: 3 }]);
    expect(await files().uploadFile(key, file, open)).toBe(4);
    expect([store.struck(), open.mock.calls.length]).toEqual([[3], 2]);
    expect(await get(key)).toBe('a,b\n');
  });

  it.each([
    ['a small', ['a,b\n'], 0],
    ['a large', [Buffer.alloc(9 * MIB), Buffer.alloc(9 * MIB)], 1],
  ])(
    'if the content of %s file fails, throws that error after one try, and aborts a multipart upload that has begun',
    async (_, chunks, begun) => {
      const key = freshFile();
      const fault = new NotEngineCsv('a quote', 4, 1);
      const open = opening(...chunks, fault);
      store.faults.set([{ on: 's3', match: `DELETE ${key}` }]);
      await expect(files().uploadFile(key, file, open)).rejects.toBe(fault);
      expect(open).toHaveBeenCalledTimes(1);
      // If a multipart upload has begun, a DELETE aborts it.
      expect(store.faults.current()[0]?.matched).toBe(begun);
    },
  );

  it('tries again after an error in the content only if that error is retryable', async () => {
    const key = freshFile();
    const broken = Object.assign(new Error('socket'), { code: 'ECONNRESET' });
    let tries = 0;
    const open = async () => (tries++ === 0 ? content('a,', broken) : content('a,b\n'));
    // The size is that of the written file, without the piece of the first try.
    expect(await files().uploadFile(key, file, open)).toBe(4);
    expect([tries, await get(key)]).toEqual([2, 'a,b\n']);
    await expect(files().uploadFile(freshFile(), file, opening(new TypeError('ours')))).rejects.toThrow(
      'S3 PutObject: TypeError, status none',
    );
  });

  it('gives one try all of the time, however slow the content is', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    // The test makes all time limits a hundred times shorter: the usual 4 s are 40 ms, and this content needs 100 ms.
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(Math.ceil(ms / 100)));
    const open = vi.fn(async () => {
      if (open.mock.calls.length === 1) await new Promise((resolve) => setTimeout(resolve, 100));
      return content('a,b\n');
    });
    expect(await files(1_000_000).uploadFile(freshFile(), file, open)).toBe(4);
    expect(open).toHaveBeenCalledTimes(1);
  });

  it('throws Overloaded, and begins no upload, if opening the result took all of the time', async () => {
    const key = freshFile();
    store.faults.set([{ on: 's3', match: `PUT ${key}`, stall: true }]);
    const open = async () => {
      await new Promise((resolve) => setTimeout(resolve, 250));
      return content('a');
    };
    await expect(files(200).uploadFile(key, file, open)).rejects.toThrow(Overloaded);
    expect(store.struck()).toEqual([0]);
  });
});

describe('an upload that S3 does not answer', () => {
  it('is aborted when its time is up', async () => {
    const abort = vi.spyOn(Upload.prototype, 'abort');
    const key = freshFile();
    store.faults.set([{ on: 's3', match: `PUT ${key}`, stall: true }]);
    const uploading = files(300).uploadFile(key, file, async () => Readable.from([Buffer.from('a')]));
    await expect(uploading).rejects.toThrow(Overloaded);
    expect(abort).toHaveBeenCalledOnce();
  });
});
