import type { ListObjectsV2CommandInput, S3Client } from '@aws-sdk/client-s3';
import { s3Lake } from '../lib/aws/s3-lake.ts';
import { dataState } from '../lib/lake/data-version.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { daysBetween } from '../lib/report/utc-time.ts';
import type { Section } from './section.ts';
import { roundsAtMost } from './size.ts';
import { figure, inTurn, median } from './statistics.ts';

/** The number of days in a window, and the number of files in each day. */
const SETTINGS = [
  { days: 1, files: 24 },
  { days: 32, files: 24 },
  { days: 32, files: 100 },
  { days: 32, files: 1_000 },
  { days: 32, files: 10_000 },
];
const ROUNDS = roundsAtMost(5);

/** Keys in one page of an S3 listing. */
const PAGE = 1_000;

/** The time that one page takes, for the column `with S3, ms`. This figure is assumed. */
const PAGE_MS = 100;

/** The list price of one page in us-east-1, as in `docs/deploy.md`. */
const DOLLARS_A_PAGE = 0.005 / 1_000;

const LAST_DAY = '2026-02-01';
const DAY_MS = 86_400_000;

/** An S3 that answers at once, so that only the service is measured. It counts the calls that it gets. */
function s3Of(days: readonly string[], files: number) {
  const keys = days.flatMap((day) =>
    Array.from(
      { length: files },
      (_, file) => `${publisherReport.table}/day=${day}/part-${String(file).padStart(5, '0')}.zstd.parquet`,
    ),
  );
  const pages = keys.map((Key) => ({
    Key,
    ETag: `"${Key.length.toString(16).padStart(32, 'a')}"`,
    Size: 100_000_000,
    LastModified: new Date(0),
  }));
  const byPrefix = new Map<string, [number, number]>();
  const range = (prefix: string): [number, number] => {
    const known = byPrefix.get(prefix);
    if (known) return known;
    const from = keys.findIndex((key) => key.startsWith(prefix));
    const found: [number, number] = [from, keys.findLastIndex((key) => key.startsWith(prefix)) + 1];
    byPrefix.set(prefix, found);
    return found;
  };
  let calls = 0;
  const client = {
    send: async ({ input }: { readonly input: ListObjectsV2CommandInput }) => {
      calls += 1;
      const [from, to] = range(input.Prefix ?? '');
      const at = Number(input.ContinuationToken ?? from);
      const next = Math.min(at + PAGE, to);
      return {
        Contents: pages.slice(at, next),
        ...(next < to && { NextContinuationToken: String(next) }),
      };
    },
  } as unknown as S3Client;
  return { client, calls: () => calls };
}

export async function measure(): Promise<Section> {
  const rows: string[][] = [];
  let monthsMs = Number.NaN;
  for (const { days, files } of SETTINGS) {
    const end = Date.parse(`${LAST_DAY}T00:00:00Z`);
    const window = { start: end - days * DAY_MS, end };
    const names = daysBetween(
      new Date(window.start).toISOString().slice(0, 10),
      new Date(end - DAY_MS).toISOString().slice(0, 10),
    );
    const { client, calls } = s3Of(names, files);
    let looks = 0;
    const look = async () => {
      looks += 1;
      const location = { bucket: 'events', prefix: '' };
      const lake = s3Lake(client, location, {
        until: Date.now() + 60_000,
        cache: new Map(),
        onListingUnavailable: () => {},
      });
      const listing = await lake.list(publisherReport, window, 0);
      if (listing?.objects.length !== days * files) throw new Error('not every file was listed');
      return dataState(listing, lake.folderOf(publisherReport));
    };
    const { ms } = await inTurn({ ms: look }, ROUNDS);
    const pages = calls() / looks;
    // If one page is not enough, the days are listed in parallel, and the pages of each day one after another.
    const rounds = pages > 1 ? 1 + Math.ceil(files / PAGE) : 1;
    const ownMs = median(ms);
    if (days === 32 && files === 24) monthsMs = ownMs;
    rows.push([
      String(days),
      figure(files),
      figure(days * files),
      figure(pages),
      figure(rounds),
      figure(ownMs),
      figure(ownMs + rounds * PAGE_MS),
      (2 * pages * DOLLARS_A_PAGE).toFixed(5),
    ]);
  }
  return {
    title: 'Listing the lake',
    method:
      'The look at the lake that each request takes: pages of 1,000 keys, and the digests over them, by files of a day. S3 answers ' +
      `at once here, so that the service's own time is what is measured; with S3 it is assumed that a page takes ${PAGE_MS} ms. A query ` +
      'looks twice, before it and after it: that is what the dollars are for.',
    table: [
      [
        'days',
        'files a day',
        'files',
        'pages',
        'pages after one another',
        'own time, ms',
        'with S3, ms',
        'dollars a report',
      ],
      ...rows,
    ],
    goals: [
      {
        goal: 'at most 20 ms of its own for 32 days of a file an hour',
        measured: `${figure(monthsMs)} ms`,
        isMet: monthsMs <= 20,
      },
    ],
    reading:
      'Up to some 30 files a day for the longest window, a look is one page. With a thousand a day it is 33 pages, most of them side by ' +
      'side, and still cheaper than the query. With ten thousand a day, listing takes longer than most queries: files of 100 MB and ' +
      'more (the data contract), or tables that keep their own list of files.',
  };
}
