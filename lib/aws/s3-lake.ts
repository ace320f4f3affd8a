import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import type { Lake, LakeListing, LakeObject } from '../lake/lake.ts';
import { PARTITION_COLUMN } from '../report/tables.ts';
import { daysBetween, daysOf, isYounger } from '../report/utc-time.ts';
import { AwsCallFailed } from './answers.ts';
import { call } from './call.ts';
import { etagOf } from './results-bucket.ts';

/** The listings that one function caches, by the table and the days that were listed. */
export type ListingCache = Map<string, LakeListing>;

/**
 * How many days of one window are listed at the same time. A report's window touches at most 33 days, so all of them
 * are listed at once. A request for the states of days may list more than 400.
 */
const DAYS_AT_ONCE = 50;

/**
 * The lake of events in S3. Every call ends by `until`, in milliseconds since 1970.
 *
 * @param location the bucket, and the prefix of the tables' folders in it; undefined if the lake can't be listed
 * @param onListingUnavailable called if there is no location, or S3 refuses the listing with 403
 */
export function s3Lake(
  s3: S3Client,
  location: { readonly bucket: string; readonly prefix: string } | undefined,
  {
    until,
    cache,
    onListingUnavailable,
  }: { until: number; cache: ListingCache; onListingUnavailable: (error: unknown) => void },
): Lake {
  const folderOf: Lake['folderOf'] = ({ table }) => `${location?.prefix ?? ''}${table}/`;

  const page = (
    bucket: string,
    prefix: string,
    from: { StartAfter?: string; ContinuationToken?: string; MaxKeys?: number },
  ) =>
    call('S3 ListObjectsV2', { until }, async (abortSignal) => {
      const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ...from });
      const { Contents = [], NextContinuationToken } = await s3.send(command, { abortSignal });
      const objects = Contents.map(
        ({ Key = '', Size = 0, LastModified, ETag }): LakeObject => ({
          key: Key,
          etag: etagOf({ ETag }),
          bytes: Size,
          lastModified: LastModified?.getTime() ?? 0,
        }),
      );
      return { objects, next: NextContinuationToken };
    });

  /** Lists a folder, page after page. The SDK's paginator would end at the first page that S3 throttles. */
  const everyPage = async (bucket: string, folder: string): Promise<LakeObject[]> => {
    const listed: LakeObject[] = [];
    for (let from: { ContinuationToken?: string } = {}; ; ) {
      const { objects, next } = await page(bucket, folder, from);
      listed.push(...objects);
      if (next === undefined) return listed;
      from = { ContinuationToken: next };
    }
  };

  return {
    folderOf,
    async list(report, window, maxAgeMs) {
      if (!location) {
        onListingUnavailable(undefined);
        return undefined;
      }
      const { bucket } = location;
      const partitions = `${folderOf(report)}${PARTITION_COLUMN}=`;
      const { first, last } = daysOf(window);
      const name = `${partitions}${first} ${last}`;
      const listedAt = Date.now();
      const kept = cache.get(name);
      if (kept && isYounger(kept.listedAt, maxAgeMs, listedAt)) return kept;
      try {
        // One page of the table's objects, from the first day's folder on. If the window has few objects, this page
        // holds all of them.
        const { objects, next } = await page(bucket, partitions, { StartAfter: partitions + first });
        const lastFolder = `${partitions}${last}/`;
        const isBeyond = (key: string) => key > lastFolder && !key.startsWith(lastFolder);
        const isWhole = next === undefined || isBeyond(objects.at(-1)?.key ?? '');
        const folders = daysBetween(first, last).map((day) => `${partitions}${day}/`);
        const all = isWhole
          ? objects.filter(({ key }) => folders.some((folder) => key.startsWith(folder)))
          : (await mapAtOnce(folders, DAYS_AT_ONCE, (folder) => everyPage(bucket, folder))).flat();
        const isTableMissing =
          all.length === 0 && (await page(bucket, folderOf(report), { MaxKeys: 1 })).objects.length === 0;
        const listing = { objects: all, listedAt, ...(isTableMissing && { isTableMissing }) };
        if (maxAgeMs > 0) keep(cache, name, listing, maxAgeMs);
        return listing;
      } catch (error) {
        if (!(error instanceof AwsCallFailed && error.httpStatus === 403)) throw error;
        onListingUnavailable(error);
        return undefined;
      }
    },
  };
}

/** The results of `act` for each item, in the items' order. At most `limit` calls run at the same time. */
async function mapAtOnce<In, Out>(
  items: readonly In[],
  limit: number,
  act: (item: In) => Promise<Out>,
): Promise<Out[]> {
  const made: Out[] = [];
  const remaining = items.entries();
  // Each worker takes the next item from the same iterator.
  const work = async () => {
    for (const [index, item] of remaining) made[index] = await act(item);
  };
  await Promise.all(Array.from({ length: limit }, work));
  return made;
}

function keep(cache: ListingCache, name: string, listing: LakeListing, maxAgeMs: number): void {
  const now = Date.now();
  for (const [other, { listedAt }] of cache) if (!isYounger(listedAt, maxAgeMs, now)) cache.delete(other);
  cache.set(name, listing);
}
