import { ListObjectsV2Command, type ListObjectsV2CommandInput, type S3Client } from '@aws-sdk/client-s3';
import type { Lake, LakeListing, LakeObject } from '../lake/data-version.ts';
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
 * @param location the bucket, and the prefix of the tables' folders in it; undefined if the lake can't be listed
 * @param onListingUnavailable called if there is no location, or S3 refuses the listing with 403
 */
export function s3Lake(
  s3: S3Client,
  location: { readonly bucket: string; readonly prefix: string } | undefined,
  options: { until: number; cache: ListingCache; onListingUnavailable: (error: unknown) => void },
): Lake {
  const { until, cache, onListingUnavailable } = options;
  const folderOf: Lake['folderOf'] = ({ table }) => `${location?.prefix ?? ''}${table}/`;

  const page = (prefix: string, from: Partial<ListObjectsV2CommandInput>) =>
    call('S3 ListObjectsV2', { until }, async (abortSignal) => {
      const command = new ListObjectsV2Command({ Bucket: location?.bucket, Prefix: prefix, ...from });
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
  const everyPage = async (folder: string, listed: LakeObject[] = [], from = {}): Promise<LakeObject[]> => {
    const { objects, next } = await page(folder, from);
    listed.push(...objects);
    return next === undefined ? listed : everyPage(folder, listed, { ContinuationToken: next });
  };

  /** Lists these folders, whose objects stay in the folders' order. */
  const everyFolder = async (folders: readonly string[]): Promise<LakeObject[]> => {
    const lists: LakeObject[][] = [];
    const remaining = folders.entries();
    // Each worker takes the next folder from the same iterator.
    const work = async () => {
      for (const [index, folder] of remaining) lists[index] = await everyPage(folder);
    };
    await Promise.all(Array.from({ length: DAYS_AT_ONCE }, work));
    return lists.flat();
  };

  return {
    folderOf,
    async list(report, window, maxAgeMs) {
      if (!location) {
        onListingUnavailable(undefined);
        return undefined;
      }
      const partitions = `${folderOf(report)}${PARTITION_COLUMN}=`;
      const { first, last } = daysOf(window);
      const name = `${partitions}${first} ${last}`;
      const listedAt = Date.now();
      const earlier = cache.get(name);
      if (earlier && isYounger(earlier.listedAt, maxAgeMs, listedAt)) return earlier;
      try {
        // One page from the first day's folder on. If the window has few objects, it holds all of them.
        const { objects, next } = await page(partitions, { StartAfter: partitions + first });
        const lastFolder = `${partitions}${last}/`;
        const isBeyond = (key: string) => key > lastFolder && !key.startsWith(lastFolder);
        const isWhole = next === undefined || isBeyond(objects.at(-1)?.key ?? '');
        const folders = daysBetween(first, last).map((day) => `${partitions}${day}/`);
        const all = isWhole
          ? objects.filter(({ key }) => folders.some((folder) => key.startsWith(folder)))
          : await everyFolder(folders);
        const isTableMissing =
          all.length === 0 && (await page(folderOf(report), { MaxKeys: 1 })).objects.length === 0;
        const listing = { objects: all, listedAt, ...(isTableMissing && { isTableMissing }) };
        if (maxAgeMs === 0) return listing;
        const now = Date.now();
        for (const [other, { listedAt }] of cache)
          if (!isYounger(listedAt, maxAgeMs, now)) cache.delete(other);
        cache.set(name, listing);
        return listing;
      } catch (error) {
        if (!(error instanceof AwsCallFailed && error.httpStatus === 403)) throw error;
        onListingUnavailable(error);
        return undefined;
      }
    },
  };
}
