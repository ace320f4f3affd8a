import { NoSuchBucket, NoSuchKey, type S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { partnerKey } from '../../../lib/access/partner-record.ts';
import { AwsCallFailed } from '../../../lib/aws/answers.ts';
import { type RecordCache, s3Register } from '../../../lib/aws/s3-register.ts';
import { PARTNER } from '../http/setting.ts';

const NOW = Date.parse('2026-03-01T00:00:00Z');
beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const recordOf = (client: string) => ({ ...PARTNER, client });

const errorOf = (Class: typeof NoSuchKey | typeof NoSuchBucket, httpStatusCode: number) =>
  new Class({ message: '', $metadata: { httpStatusCode } });
const named = (name: string, httpStatusCode: number) =>
  new S3ServiceException({ name, $fault: 'client', message: '', $metadata: { httpStatusCode } });

/**
 * A bucket that answers for each client with the client's text or error, or without a body if the text is null. It
 * records the requested keys.
 */
function bucketOf(texts: Map<string, string | Error | null>) {
  const asked: string[] = [];
  const s3 = {
    send: async (
      { input }: { input: { Bucket: string; Key: string } },
      { abortSignal }: { abortSignal: AbortSignal },
    ) => {
      expect(input.Bucket).toBe('register');
      expect(abortSignal).toBeInstanceOf(AbortSignal);
      asked.push(input.Key);
      const [, found = named('AccessDenied', 403)] =
        [...texts].find(([client]) => partnerKey(client) === input.Key) ?? [];
      if (found instanceof Error) throw found;
      return found === null ? {} : { Body: { transformToString: async () => found } };
    },
  } as unknown as S3Client;
  const cache: RecordCache = new Map();
  const find = (client: string) =>
    s3Register(s3, 'register', { until: Date.now() + 60_000, cache }).find(client);
  return { find, asked, cache };
}

describe('the register in S3', () => {
  it('finds a client by a key that is made from the client’s id and can’t be guessed without the id', async () => {
    const { find, asked } = bucketOf(new Map([['client-1', JSON.stringify(recordOf('client-1'))]]));
    expect(await find('client-1')).toEqual(recordOf('client-1'));
    // The key's digest comes from `printf client-1 | sha256sum`.
    expect(asked).toEqual(['partners/5704de18fc6045e4d08c3a261162795689ba6a0383964109350f8fad3c4ad972.json']);
  });

  it.each([
    ['is missing (S3 answers 403, since the role may not list the bucket)', named('AccessDenied', 403)],
    ['is missing', errorOf(NoSuchKey, 404)],
    ['is no JSON', '{'],
    ['comes without a body', null],
    ['has a member twice', JSON.stringify(recordOf('client-1')).replace('"active":true', '$&,$&')],
    ['is another client’s', JSON.stringify(recordOf('client-2'))],
  ])('finds nobody if the record %s', async (_, found) => {
    const { find } = bucketOf(new Map([['client-1', found]]));
    expect(await find('client-1')).toBeUndefined();
  });

  it.each([
    ['the bucket is gone', errorOf(NoSuchBucket, 404), 404],
    ['the signature is wrong', named('SignatureDoesNotMatch', 403), 403],
  ])('throws, instead of finding nobody, if %s', async (_, error, httpStatus) => {
    const { find, cache } = bucketOf(new Map([['client-1', error]]));
    const failure = await find('client-1').catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(AwsCallFailed);
    expect(failure).toMatchObject({ operation: 'S3 GetObject', httpStatus });
    expect(cache.size).toBe(0);
  });

  it('keeps a record, or the fact that a client has no record, for less than a minute', async () => {
    const texts = new Map<string, string | Error>([['client-1', JSON.stringify(recordOf('client-1'))]]);
    const { find, asked } = bucketOf(texts);
    await find('client-1');
    await find('stranger');
    texts.set('client-1', named('AccessDenied', 403));
    texts.set('stranger', JSON.stringify(recordOf('stranger')));
    vi.setSystemTime(NOW + 59_999);
    expect(await find('client-1')).toMatchObject({ client: 'client-1' });
    expect(await find('stranger')).toBeUndefined();
    expect(asked).toHaveLength(2);
    vi.setSystemTime(NOW + 60_000);
    expect(await find('client-1')).toBeUndefined();
    expect(await find('stranger')).toMatchObject({ client: 'stranger' });
    expect(asked).toHaveLength(4);
  });

  it('counts the minute from the start of the read, and reads again if the clock was set back', async () => {
    const texts = new Map([['client-1', JSON.stringify(recordOf('client-1'))]]);
    const { find, asked, cache } = bucketOf(texts);
    await find('client-1');
    expect(cache.get('client-1')?.readAt).toBe(NOW);
    vi.setSystemTime(NOW - 1);
    await find('client-1');
    expect(asked).toHaveLength(2);
  });

  it('drops entries of the cache that are too old to be used again', async () => {
    const { find, cache } = bucketOf(new Map());
    for (let client = 0; client < 50; client++) await find(`stranger-${client}`);
    expect(cache.size).toBe(50);
    vi.setSystemTime(NOW + 60_000);
    await find('another');
    expect([...cache.keys()]).toEqual(['another']);
  });
});
