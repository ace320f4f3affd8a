import { call } from '../../lib/aws/call.ts';
import { s3LargeFiles } from '../../lib/aws/large-files.ts';
import { s3ResultsBucket } from '../../lib/aws/results-bucket.ts';
import type { DeliveryBackends } from '../../lib/delivery/delivery.ts';
import { MAX_SMALL_BYTES } from '../../lib/delivery/end.ts';
import type { LakeListing } from '../../lib/lake/data-version.ts';
import { RESULTS_PREFIX } from '../../lib/names.ts';
import { PARTITION_COLUMN } from '../../lib/report/tables.ts';
import { daysBetween, daysOf } from '../../lib/report/utc-time.ts';
import type { LargeFiles, ResultsBucket } from '../../lib/results/results-bucket.ts';
import { tokenBucket } from '../../local/token-bucket.ts';
import { memoryClient, statusError } from '../../test/s3/memory-client.ts';
import { memoryS3 } from '../../test/s3/memory-s3.ts';
import type { VirtualTime } from '../../test/worlds/virtual-time.ts';
import type { Quotas } from './quotas.ts';

/** The least and the most milliseconds of a call. Times are evenly distributed. Assumed, for calls within a region. */
const LATENCY = { readMs: [12, 40], writeMs: [25, 80] } as const;

/** The bytes of a large result that are re-typed, gzipped and uploaded in 1 ms. Measured with 1 GB on one core. */
const PUBLISHED_A_MS = 25_000;

interface S3Latency {
  readonly readMs: readonly [number, number];
  readonly writeMs: readonly [number, number];
}

export interface S3Options {
  readonly latency: S3Latency;
  /** Called after an object is created. */
  readonly onCreated: (key: string) => void;
}

/** The content of every result, whatever its stated size: a header and no rows. */
const EMPTY_RESULT = '"Day","Clicks"\n';

/** The number of files in each day of the lake. */
const FILES_A_DAY = 24;

export interface ModelledS3 {
  /** The results bucket as the service uses it. Every call ends by the time `until`. */
  readonly results: (until: number) => ResultsBucket & LargeFiles;
  readonly lake: (until: number) => DeliveryBackends['lake'];
  /** Downloads a file, as a client does. */
  download(key: string): Promise<void>;
  /** Stores a result, as the engine does. */
  putResult(key: string, bytes: number): void;
  /** How often each operation was called. */
  readonly calls: Map<string, number>;
}

/** Models S3's rules for conditional writes and its request rates. Its results have no rows. */
export function modelledS3(
  time: VirtualTime,
  { s3: quotas }: Pick<Quotas, 's3'>,
  { latency = LATENCY, onCreated = () => {} }: Partial<S3Options> = {},
): ModelledS3 {
  const s3 = memoryS3(time.now, { onCreated });
  const calls = new Map<string, number>();
  const buckets = new Map<string, () => boolean>();

  /** Tries an operation once: takes its time, and throws if the request rate of its prefix is exceeded. */
  const operation = async (name: string, key: string): Promise<void> => {
    calls.set(name, (calls.get(name) ?? 0) + 1);
    const isWrite = name === 'PutObject';
    const [least, most] = isWrite ? latency.writeMs : latency.readMs;
    await time.delay(least + Math.random() * (most - least));
    const prefix = `${isWrite} ${key.slice(0, key.indexOf('/'))}`;
    const admits = buckets.get(prefix) ?? tokenBucket(isWrite ? quotas.writes : quotas.reads, time.now);
    buckets.set(prefix, admits);
    if (!admits()) throw statusError('SlowDown', 503);
  };
  /** The size of the engine's result from which the file `reports/<execution>/…` is made. */
  const resultBytesOf = (key: string): number =>
    s3.objects.get(`${RESULTS_PREFIX.athena}${key.split('/')[1]}.csv`)?.bytes ?? 0;

  const client = memoryClient(s3, async (name, key, act) => {
    const isLarge = name === 'PutObject' && resultBytesOf(key) > MAX_SMALL_BYTES;
    if (isLarge) await time.delay(resultBytesOf(key) / 2 / PUBLISHED_A_MS);
    await operation(name, key);
    return act();
  });
  const results = (until: number): ResultsBucket & LargeFiles => ({
    ...s3ResultsBucket(client, 'results', until),
    ...s3LargeFiles(client, 'results', until),
    presign: async (key, seconds) => `https://results.example/${key}?until=${time.now() + seconds * 1_000}`,
  });

  return {
    results,
    calls,
    lake: (until) => ({
      folderOf: ({ table }) => `${table}/`,
      async list({ table }, window): Promise<LakeListing> {
        const { first, last } = daysOf(window);
        const listedAt = time.now();
        await call('S3 ListObjectsV2', { until }, () => operation('ListObjectsV2', `${table}/`));
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
    putResult: (key, bytes) => void s3.put(key, EMPTY_RESULT, { bytes }),
  };
}
