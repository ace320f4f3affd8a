import type { ListObjectsV2CommandInput, S3Client } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AwsCallFailed } from '../../../lib/aws/answers.ts';
import { type ListingCache, s3Lake } from '../../../lib/aws/s3-lake.ts';
import { Unavailable } from '../../../lib/problems/problem.ts';
import { advertiserReport, publisherReport } from '../../../lib/report/catalogue.ts';

const PAGE = 1_000;

/** S3's order of keys: by their bytes in UTF-8. */
const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

/**
 * An S3 that lists these keys. The listing of a prefix in `errors` throws the error of that prefix. All calls that run
 * at the same time are answered in one round, so the number of rounds shows how many calls ran one after the other.
 */
function s3Of(keys: readonly string[], errors: Readonly<Record<string, unknown>> = {}) {
  const sorted = keys.toSorted(byBytes);
  const inputs: ListObjectsV2CommandInput[] = [];
  const callsOfRounds: number[] = [];
  let round: Promise<void> | undefined;
  const endOfRound = () => {
    round ??= new Promise((end) => {
      callsOfRounds.push(0);
      setImmediate(() => {
        round = undefined;
        end();
      });
    });
    callsOfRounds.push((callsOfRounds.pop() ?? 0) + 1);
    return round;
  };
  /** The index of the first key that is not before this text. */
  const placeOf = (text: string) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (byBytes(sorted[middle] ?? '', text) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const s3 = {
    send: async (
      command: { readonly input: ListObjectsV2CommandInput; readonly constructor: { name: string } },
      { abortSignal }: { abortSignal: AbortSignal },
    ) => {
      const { input } = command;
      expect(command.constructor.name).toBe('ListObjectsV2Command');
      expect(abortSignal).toBeInstanceOf(AbortSignal);
      inputs.push(input);
      await endOfRound();
      const { Bucket, Prefix = '', StartAfter = '', ContinuationToken } = input;
      expect(Bucket).toBe('events');
      if (Prefix in errors) throw errors[Prefix];
      const after = ContinuationToken ?? StartAfter;
      const from = byBytes(after, Prefix) < 0 ? Prefix : after;
      const left = sorted
        .slice(placeOf(from), placeOf(from) + PAGE + 2)
        .filter((key) => key.startsWith(Prefix) && key !== after);
      const page = left.slice(0, PAGE);
      const Contents = page.map((Key) => ({ Key, ETag: `"${Key}"`, Size: 7, LastModified: new Date(5_000) }));
      const NextContinuationToken = page.at(-1);
      return { ...(page.length > 0 && { Contents }), ...(left.length > PAGE && { NextContinuationToken }) };
    },
  } as unknown as S3Client;
  return { s3, inputs, rounds: () => callsOfRounds.length, mostAtOnce: () => Math.max(...callsOfRounds) };
}

/** `count` days in a row from the instant `start` on, as `YYYY-MM-DD`. */
const daysOf = (start: number, count: number) =>
  Array.from({ length: count }, (_, nth) => new Date(start + nth * 86_400_000).toISOString().slice(0, 10));

const location: Parameters<typeof s3Lake>[1] = { bucket: 'events', prefix: 'warehouse/' };
const FOLDER = 'warehouse/publisher_events/';
const window = { start: Date.parse('2026-01-02T00:00:00Z'), end: Date.parse('2026-01-04T00:00:00Z') };

const files = (day: string, count: number, folder = FOLDER) => {
  const nameOf = (index: number) => `${folder}day=${day}/${String(index).padStart(5, '0')}.parquet`;
  return Array.from({ length: count }, (_, index) => nameOf(index));
};
const lakeOf = (s3: S3Client, cache: ListingCache = new Map(), onListingUnavailable = (_: unknown) => {}) =>
  s3Lake(s3, location, { until: Date.now() + 60_000, cache, onListingUnavailable });
const listed = async (keys: readonly string[]) => {
  const { s3, inputs, rounds, mostAtOnce } = s3Of(keys);
  const listing = await lakeOf(s3).list(publisherReport, window, 0);
  return { keys: listing?.objects.map(({ key }) => key), inputs, rounds: rounds(), mostAtOnce: mostAtOnce() };
};

beforeEach(() => {
  vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ['Date'] });
  return () => vi.useRealTimers();
});

describe('a lake whose listing fits into one page', () => {
  const before = files('2026-01-01', 2);
  const inWindow = [...files('2026-01-02', 2), `${FOLDER}day=2026-01-03/_SUCCESS`, ...files('2026-01-03', 1)];
  const after = files('2026-01-04', 2);

  it('is listed by one call, and shows key, ETag, size and time of the objects of the window', async () => {
    const { s3, inputs } = s3Of([...before, ...inWindow, ...after]);
    const listing = await lakeOf(s3).list(publisherReport, window, 0);
    expect(listing?.listedAt).toBe(Date.now());
    expect(listing?.objects).toEqual(
      inWindow.toSorted(byBytes).map((key) => ({ key, etag: `"${key}"`, bytes: 7, lastModified: 5_000 })),
    );
    expect(inputs).toEqual([
      { Bucket: 'events', Prefix: `${FOLDER}day=`, StartAfter: `${FOLDER}day=2026-01-02` },
    ]);
  });

  it('is not missing if it has only the object that `npm run lake -- init` makes', async () => {
    const { s3 } = s3Of([`${FOLDER}_empty`]);
    expect((await lakeOf(s3).list(publisherReport, window, 0))?.isTableMissing).toBeUndefined();
  });

  it('is listed for a day of which one second is in the window, but not for a day that begins when the window ends', async () => {
    const { s3 } = s3Of([...inWindow, ...after]);
    const lake = lakeOf(s3);
    const dayOf = ({ key }: { key: string }) => key.slice(FOLDER.length, FOLDER.length + 14);
    const days = async (end: string) =>
      (await lake.list(publisherReport, { ...window, end: Date.parse(end) }, 0))?.objects.map(dayOf);
    expect(new Set(await days('2026-01-04T00:00:00Z')).size).toBe(2);
    expect(new Set(await days('2026-01-04T00:00:01Z')).size).toBe(3);
  });

  it('has size 0 and time 0 for an object whose size and time S3 leaves out, but no listing without an ETag', async () => {
    const object = { Key: `${FOLDER}day=2026-01-02/a`, ETag: '"1"' };
    const listed = (Contents: object[]) =>
      lakeOf({ send: async () => ({ Contents }) } as unknown as S3Client).list(publisherReport, window, 0);
    expect((await listed([object]))?.objects).toEqual([
      { key: object.Key, etag: '"1"', bytes: 0, lastModified: 0 },
    ]);
    // The service could not tell versions apart.
    await expect(listed([{ Key: object.Key }])).rejects.toMatchObject({
      cause: { message: 'S3 answered without an ETag' },
    });
  });
});

describe('a lake of many files', () => {
  it.each<[string, string[]]>([
    ['with one file on a second page', [...files('2026-01-02', 1_000), ...files('2026-01-03', 1)]],
    ['whose days take several pages', [...files('2026-01-02', 2_300), ...files('2026-01-03', 1_001)]],
    ['whose first day has one file more than a page', files('2026-01-02', 1_001)],
    ['whose page ends within the last day', [...files('2026-01-02', 998), ...files('2026-01-03', 3)]],
  ])('%s is listed whole, day by day', async (_, keys) => {
    const found = await listed([...keys, ...files('2026-01-04', 5)]);
    expect(found.keys).toEqual(keys);
    expect(found.inputs.slice(1).every(({ Prefix }) => /day=2026-01-0[23]\/$/.test(Prefix ?? ''))).toBe(true);
    expect(found.inputs.length).toBeGreaterThan(2);
    for (const { Prefix, StartAfter } of found.inputs.slice(1))
      expect([Prefix?.endsWith('/'), StartAfter]).toEqual([true, undefined]);
  });

  it('is listed day by day if S3 answers with an empty page that is not the last', async () => {
    const keys = ['Live/publisher_events/day=2026-01-02/a', 'Live/publisher_events/day=2026-01-03/b'];
    const send = async ({ input: { Prefix = '', StartAfter } }: { input: ListObjectsV2CommandInput }) => {
      const inPrefix = keys.filter((key) => key.startsWith(Prefix)).map((Key) => ({ Key, ETag: '"1"' }));
      return StartAfter === undefined ? { Contents: inPrefix } : { NextContinuationToken: 'more' };
    };
    const s3 = { send } as unknown as S3Client;
    const terms = { until: Date.now() + 60_000, cache: new Map(), onListingUnavailable: () => {} };
    const lake = s3Lake(s3, { bucket: 'events', prefix: 'Live/' }, terms);
    const listing = await lake.list(publisherReport, window, 0);
    expect(listing?.objects.map(({ key }) => key)).toEqual(keys);
  });

  it('is listed for every day of the longest window of the states of days, at most 50 at the same time', async () => {
    const end = window.start + 432 * 86_400_000;
    const inWindow = daysOf(window.start, 432).flatMap((day) => files(day, 40));
    const lake = s3Of([...files('2026-01-01', 40), ...inWindow, ...files(daysOf(end, 1)[0] ?? '', 40)]);
    const listing = await lakeOf(lake.s3).list(publisherReport, { start: window.start, end }, 0);
    expect(listing?.objects.map(({ key }) => key)).toEqual(inWindow);
    expect([lake.inputs.length, lake.rounds(), lake.mostAtOnce()]).toEqual([433, 10, 50]);
  });

  it('is listed page after page only for a day of several pages: the other days are listed meanwhile', async () => {
    const days = daysOf(window.start, 100);
    const others = days.slice(1).flatMap((day) => files(day, 20));
    const { s3, inputs, rounds } = s3Of([...files('2026-01-02', 3_500), ...others]);
    await lakeOf(s3).list(publisherReport, { start: window.start, end: window.start + 100 * 86_400_000 }, 0);
    // One call for the first page, four for the pages of the first day, and meanwhile one for each other day.
    expect([inputs.length, rounds()]).toEqual([1 + 4 + 99, 5]);
  });
});

describe('a listing', () => {
  const keys = files('2026-01-02', 1);

  it('is used again until it reaches its highest age', async () => {
    const { s3, inputs } = s3Of(keys);
    const cache: ListingCache = new Map();
    const list = (maxAgeMs: number) => lakeOf(s3, cache).list(publisherReport, window, maxAgeMs);
    const first = await list(1_000);
    vi.setSystemTime(Date.now() + 999);
    expect(await list(1_000)).toBe(first);
    expect(inputs).toHaveLength(1);
    vi.setSystemTime(Date.now() + 1);
    expect(await list(1_000)).not.toBe(first);
    expect(inputs).toHaveLength(2);
  });

  it('is made again, and not cached, when the highest age is 0', async () => {
    const { s3, inputs } = s3Of(keys);
    const cache: ListingCache = new Map();
    await lakeOf(s3, cache).list(publisherReport, window, 0);
    expect(cache.size).toBe(0);
    await lakeOf(s3, cache).list(publisherReport, window, 1_000);
    await lakeOf(s3, cache).list(publisherReport, window, 0);
    expect(inputs).toHaveLength(3);
  });

  it('is used only for its own window and table', async () => {
    const { s3, inputs } = s3Of(keys);
    const lake = lakeOf(s3, new Map());
    await lake.list(publisherReport, window, 1_000);
    await lake.list(advertiserReport, window, 1_000);
    await lake.list(publisherReport, { ...window, end: window.end + 86_400_000 }, 1_000);
    await lake.list(publisherReport, { ...window, start: window.start - 86_400_000 }, 1_000);
    // Four calls list. One more looks whether the advertiser table has any object, since its listing is empty.
    expect(inputs).toHaveLength(5);
    // A window with other times of the same days uses the same listing.
    await lake.list(publisherReport, { ...window, start: window.start + 3_600_000 }, 1_000);
    expect(inputs).toHaveLength(5);
  });

  it('is not used again after the clock was set back, and is dropped', async () => {
    const { s3, inputs } = s3Of(keys);
    const cache: ListingCache = new Map();
    await lakeOf(s3, cache).list(publisherReport, window, 1_000);
    await lakeOf(s3, cache).list(advertiserReport, window, 1_000);
    expect([inputs.length, cache.size]).toEqual([3, 2]);
    vi.setSystemTime(Date.now() - 7_200_000);
    await lakeOf(s3, cache).list(publisherReport, window, 1_000);
    expect([inputs.length, cache.size]).toEqual([4, 1]);
  });
});

describe('the listing of a lake', () => {
  const refusal = Object.assign(new Error('x'), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } });

  it('is undefined if no bucket is configured, and the caller is notified', async () => {
    const { s3, inputs } = s3Of([]);
    const told: unknown[] = [];
    const onListingUnavailable = (error: unknown) => told.push(error);
    const lake = s3Lake(s3, undefined, { until: 0, cache: new Map(), onListingUnavailable });
    expect(await lake.list(publisherReport, window, 0)).toBeUndefined();
    expect([inputs, told]).toEqual([[], [undefined]]);
    expect(lake.folderOf(publisherReport)).toBe('publisher_events/');
    expect(lakeOf(s3).folderOf(advertiserReport)).toBe('warehouse/advertiser_events/');
  });

  it('is undefined if S3 forbids it, and the caller is notified of the error', async () => {
    const { s3 } = s3Of([], { [`${FOLDER}day=`]: refusal });
    const told: unknown[] = [];
    const lake = lakeOf(s3, new Map(), (error) => told.push(error));
    expect(await lake.list(publisherReport, window, 0)).toBeUndefined();
    expect(told).toEqual([expect.any(AwsCallFailed)]);
    expect(told[0]).toMatchObject({ operation: 'S3 ListObjectsV2', httpStatus: 403 });
  });

  it.each([
    ['the bucket is wrong', 404, 60_000, 'S3 ListObjectsV2: NoSuchBucket, status 404'],
    ['S3 throttles', 503, 0, Unavailable],
  ])('fails if %s', async (_, httpStatusCode, forMs, failure) => {
    const error = Object.assign(new Error('x'), { name: 'NoSuchBucket', $metadata: { httpStatusCode } });
    const onListingUnavailable = () => expect.fail('this is no missing right');
    const until = Date.now() + forMs;
    const { s3 } = s3Of([], { [`${FOLDER}day=`]: error });
    const lake = s3Lake(s3, location, { until, cache: new Map(), onListingUnavailable });
    await expect(lake.list(publisherReport, window, 0)).rejects.toThrow(failure as string);
  });
});
