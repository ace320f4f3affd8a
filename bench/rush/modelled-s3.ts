import { call } from '../../lib/aws/call.ts';
import type { DeliveryBackends } from '../../lib/delivery/delivery.ts';
import type { LakeListing } from '../../lib/delivery/lake.ts';
import type { ResultsBucket, StoredDocument } from '../../lib/delivery/results.ts';
import { PARTITION_COLUMN } from '../../lib/report/tables.ts';
import { daysBetween, daysOf } from '../../lib/report/utc-time.ts';
import { tokenBucket } from '../../local/token-bucket.ts';
import type { VirtualTime } from '../../test/worlds/virtual-time.ts';
import type { Quotas } from './quotas.ts';

interface Stored {
  readonly etag: string;
  readonly document?: unknown;
  readonly bytes: number;
  readonly lastModified: number;
}

/** How long S3 takes, in milliseconds: evenly distributed from the first to the second. Assumed, as within a region. */
const LATENCY = { readMs: [12, 40], writeMs: [25, 80] } as const;

export interface S3Latency {
  readonly readMs: readonly [number, number];
  readonly writeMs: readonly [number, number];
}

/** A result without rows: re-typed in place, so each reader gets its own. */
const EMPTY_RESULT = () => Buffer.from('"Day","Clicks"\n');

/** Files of a day of the lake, and the months behind the rush. */
const FILES_A_DAY = 24;

export interface ModelledS3 {
  /** As the service has it; every call ends by a time. */
  readonly results: (until: number) => ResultsBucket;
  readonly lake: (until: number) => DeliveryBackends['lake'];
  /** A client downloads a file. */
  download(key: string): Promise<void>;
  /** The engine leaves a result. */
  putResult(key: string, bytes: number): void;
  /** How often each operation was called. */
  readonly calls: Map<string, number>;
}

/** S3 by its rules for conditional writes and its request rates, with objects of no content. */
export function modelledS3(
  time: VirtualTime,
  { s3: quotas }: Pick<Quotas, 's3'>,
  latency: S3Latency = LATENCY,
): ModelledS3 {
  const objects = new Map<string, Stored>();
  const calls = new Map<string, number>();
  const buckets = new Map<string, () => boolean>();
  let writes = 0;

  /** One try of one operation: its time, and its place in the rate of its prefix. */
  const operation = async (name: string, key: string): Promise<void> => {
    calls.set(name, (calls.get(name) ?? 0) + 1);
    const isWrite = name === 'PutObject';
    const [least, most] = isWrite ? latency.writeMs : latency.readMs;
    await time.delay(least + Math.random() * (most - least));
    const prefix = `${isWrite} ${key.slice(0, key.indexOf('/'))}`;
    const admits = buckets.get(prefix) ?? tokenBucket(isWrite ? quotas.writes : quotas.reads, time.now);
    buckets.set(prefix, admits);
    if (!admits()) throw slowDown();
  };
  const put = (key: string, object: Omit<Stored, 'etag' | 'lastModified'>): Stored => {
    const stored = { ...object, etag: String(++writes), lastModified: time.now() };
    objects.set(key, stored);
    return stored;
  };

  /** To the second, as S3 tells it. */
  const ageOf = ({ lastModified }: Stored): number =>
    1_000 * (Math.floor(time.now() / 1_000) - Math.floor(lastModified / 1_000));

  const results = (until: number): ResultsBucket => {
    const reading = (name: string, key: string) =>
      call(`S3 ${name}`, until, async () => {
        await operation(name, key);
        return objects.get(key);
      });
    const writing = (key: string, document: unknown, mayBe: (found: Stored | undefined) => boolean) =>
      call('S3 PutObject', until, async (): Promise<StoredDocument | undefined> => {
        await operation('PutObject', key);
        return mayBe(objects.get(key))
          ? { document, etag: put(key, { document, bytes: 1_000 }).etag, ageMs: 0 }
          : undefined;
      });
    return {
      async head(key) {
        const found = await reading('HeadObject', key);
        return found && { ageMs: ageOf(found), bytes: found.bytes };
      },
      async read(key) {
        const found = await reading('GetObject', key);
        return found && { document: found.document, etag: found.etag, ageMs: ageOf(found) };
      },
      create: (key, document) => writing(key, document, (found) => found === undefined),
      replace: ({ etag }, key, document) => writing(key, document, (found) => found?.etag === etag),
      async readResult(location) {
        const found = await reading('GetObject', new URL(location).pathname.slice(1));
        return found && { bytes: found.bytes, content: EMPTY_RESULT() };
      },
      async writeFile(key) {
        await writing(key, undefined, (found) => found === undefined);
      },
      locationOf: (key) => `s3://results/${key}`,
      presign: async (key) => `https://results.example/${key}`,
    };
  };

  return {
    results,
    calls,
    lake: (until) => ({
      folderOf: ({ table }) => `${table}/`,
      async list({ table }, window): Promise<LakeListing> {
        const { first, last } = daysOf(window);
        const listedAt = time.now();
        await call('S3 ListObjectsV2', until, () => operation('ListObjectsV2', `${table}/`));
        const objects = daysBetween(first, last).flatMap((day) =>
          Array.from({ length: FILES_A_DAY }, (_, file) => {
            const key = `${table}/${PARTITION_COLUMN}=${day}/part-${file}.parquet`;
            return { key, etag: key, bytes: 100_000_000, lastModified: 0 };
          }),
        );
        return { objects, listedAt };
      },
    }),
    async download(key) {
      await operation('GetObject', key);
    },
    putResult: (key, bytes) => void put(key, { bytes }),
  };
}

const slowDown = () =>
  Object.assign(new Error('Reduce your request rate.'), {
    name: 'SlowDown',
    $metadata: { httpStatusCode: 503 },
  });
