import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'vitest';
import { createFaults } from '../../local/faults/faults.ts';
import { type ObjectStore, startObjectStore } from '../../local/object-store/object-store.ts';
import { accessDenied } from '../../local/object-store/s3-protocol.ts';
import { openBucket } from '../../tools/lake/store/bucket.ts';
import { bucketTarget } from '../../tools/lake/store/bucket-lake.ts';
import { openWriter, publisherRecord } from './make-parquet.ts';
import { type LakeRun, runLake } from './run-lake.ts';

const BUCKET = 'the-lake';
const TABLE = 'publisher_events';
const RAW = `s3://${BUCKET}/raw`;
const HOURS = `s3://${BUCKET}/hours`;

/** The day that the tests restate, and another day that has a marker too. */
export const DAY = '2026-01-30';
const OTHER_DAY = '2026-01-29';

/**
 * Each version of a day has this many records in each of the hours below. Each record has as many clicks as the
 * version's number.
 */
const RECORDS_AN_HOUR = 10;
const HOURS_OF_DAY = [0, 7, 23];

/** The variables by which the commands of a lake find a store. */
export const environmentOf = ({ url, region, credentials }: ObjectStore) => ({
  AWS_ENDPOINT_URL_S3: url,
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
});

const isWrite = (call: string) => /^(PUT|DELETE|POST) \S*hours\//.test(call);

/** Starts a bucket with a raw lake and a lake of hours, and a reader that checks the hours between any two S3 calls. */
export async function startHoursWorld() {
  const directory = await mkdtemp(join(tmpdir(), 'hours-'));
  const writer = await openWriter(directory);
  let isLooking = false;
  let onCall: (call: string) => unknown = () => {};
  const store = await startObjectStore({
    directory: join(directory, 'store'),
    buckets: [BUCKET],
    faults: {
      ...createFaults(),
      async strike(_on, call) {
        if (!isLooking) await onCall(call);
        return [];
      },
    },
  });
  Object.assign(process.env, environmentOf(store));
  const hours = openBucket(HOURS);
  let version = 0;
  /** The numbers of the versions that had a marker in the raw lake. */
  const final = new Set<number>();

  /** The versions in each file that the reader has checked, by the file's ETag. */
  const seen = new Map<string, number[]>();
  /** The versions in a day's hours. Hours of more than one version are wrong. */
  const versionsIn = async (day: string): Promise<number[]> => {
    const path = join(directory, 'looked-at.parquet');
    const file = await hours.read(`${TABLE}/day=${day}/hours.parquet`);
    await writeFile(path, await buffer(file));
    const sums = 'SELECT hour(event_time), sum(clicks)::INTEGER';
    const rows = await writer.rows(`${sums} FROM read_parquet('${path}') GROUP BY 1 ORDER BY 1`);
    expect(rows.map(([hour]) => Number(hour))).toEqual(HOURS_OF_DAY);
    return [...new Set(rows.map(([, clicks]) => Number(clicks) / RECORDS_AN_HOUR))];
  };

  /** Checks that every day with a marker has the hours of one final version. Resolves to the days' versions. */
  const look = async (): Promise<Record<string, number>> => {
    isLooking = true;
    try {
      const listed = new Map((await hours.list()).map(({ path, digest = '' }) => [path, digest]));
      const marked = [...listed.keys()].flatMap((path) => /day=([^/]+)\/_SUCCESS$/.exec(path)?.[1] ?? []);
      const found: Record<string, number> = {};
      for (const day of marked) {
        const etag = listed.get(`${TABLE}/day=${day}/hours.parquet`) ?? '';
        const versions = seen.get(etag) ?? (await versionsIn(day));
        seen.set(etag, versions);
        expect(versions, `${day}, after version ${version}`).toHaveLength(1);
        found[day] = versions[0] as number;
        expect(final, `${day} is of version ${found[day]}`).toContain(found[day]);
      }
      return found;
    } finally {
      isLooking = false;
    }
  };

  const world = {
    RAW,
    HOURS,
    look,
    onCall(next: typeof onCall) {
      onCall = next;
    },
    get version() {
      return version;
    },
    /** Writes the day's next version into the raw lake, in the way that the data contract requires. */
    async restate({ day = DAY, isOpen = false } = {}): Promise<void> {
      const clicks = `${version + 1}::BIGINT`;
      const at = (hour: number, nth: number) => `TIMESTAMP '${day} ${hour}:${10 + nth}:00'`;
      const minutes = [...Array(RECORDS_AN_HOUR).keys()];
      const records = HOURS_OF_DAY.flatMap((hour) =>
        minutes.map((nth) => publisherRecord({ clicks, event_time: at(hour, nth) })),
      );
      const name = `part-${version + 1}.parquet`;
      await writer.file(name, records.join(' UNION ALL '));
      version++;
      if (!isOpen) final.add(version);
      const hook = onCall;
      onCall = () => {};
      await bucketTarget(RAW).replaceDay({
        ...{ table: TABLE, day, files: [{ path: join(directory, name), name }] },
        ...(!isOpen && { marker: '' }),
      });
      onCall = hook;
    },
    hourly: (...options: readonly string[]) => runLake(['hourly', '--from', RAW, '--to', HOURS, ...options]),
    /**
     * Runs `lake hourly`, and delays its nth write, or its nth call of any kind, until `meanwhile` has ended. Resolves
     * to the run's output, and to whether the run came to that nth write or call.
     */
    async heldAt(
      nth: number,
      kind: 'write' | 'call',
      meanwhile: () => Promise<unknown>,
    ): Promise<LakeRun & { readonly wasHeld: boolean }> {
      let calls = 0;
      onCall = async (call) => {
        await look();
        if ((kind === 'write' && !isWrite(call)) || ++calls !== nth) return;
        onCall = look;
        await meanwhile();
      };
      const run = await world.hourly();
      onCall = () => {};
      await look();
      return { ...run, wasHeld: calls >= nth };
    },
    /** Runs `lake hourly`. From its nth write on, the store refuses all its calls, as if the run were killed there. */
    async cutOffAt(nth: number): Promise<void> {
      const before = onCall;
      let writes = 0;
      onCall = async (call) => {
        await look();
        if (isWrite(call)) writes++;
        if (writes >= nth) throw accessDenied();
      };
      await world.hourly();
      onCall = before;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      writer[Symbol.dispose]();
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
  await world.restate({ day: OTHER_DAY });
  return world;
}
