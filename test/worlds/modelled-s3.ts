import { gunzipSync } from 'node:zlib';
import { namedDice } from './random.ts';
import type { World } from './world.ts';

export interface StoredObject {
  readonly etag: string;
  readonly lastModified: number;
  /** Documents and results as text; of a zipped file, what it holds. */
  readonly text: string;
  /** The bytes of a file. */
  readonly content: Buffer;
  /** The size that S3 tells: large results hold less than they say. */
  readonly bytes: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly encoding?: string;
}

/** The objects of the results bucket, behind all ports: S3 by its rules for conditional writes, and its lifecycle. */
export interface ModelledS3 {
  readonly objects: ReadonlyMap<string, StoredObject>;
  get(key: string): StoredObject | undefined;
  put(
    key: string,
    content: string | Buffer,
    more?: { readonly bytes?: number; readonly metadata?: Readonly<Record<string, string>>; readonly encoding?: string },
  ): StoredObject;
  /** Called after an object was made. */
  readonly onCreated: ((key: string, object: StoredObject) => void)[];
  /** When writes to a key began, so that two at one time may meet. */
  readonly writing: Map<string, readonly { readonly at: number; readonly isOver: boolean }[]>;
}

const DAY_MS = 86_400_000;
const LONG_DAYS = 7;
const WAITING_DAYS = 2;

/** What is kept only while somebody may wait: `infra/data/results-bucket.ts`. All else is kept for a week. */
const WAITING = /^(tickets|publications|abandoned|shares|slots)\//;

export const keptMs = (key: string): number => (WAITING.test(key) ? WAITING_DAYS : LONG_DAYS) * DAY_MS;

/** S3 removes what is old enough up to a day late. */
const LATE_MS = DAY_MS;

export function modelledS3(world: World): ModelledS3 {
  const { time, seed } = world;
  const objects = new Map<string, StoredObject>();
  const onCreated: ModelledS3['onCreated'] = [];
  const expiry = namedDice(seed, 'lifecycle');
  let writes = 0;
  return {
    objects,
    onCreated,
    writing: new Map(),
    get: (key) => objects.get(key),
    put(key, given, { bytes, metadata = {}, encoding } = {}) {
      const content = typeof given === 'string' ? Buffer.from(given) : given;
      const stored: StoredObject = {
        etag: `"s${++writes}"`,
        lastModified: time.now(),
        text: encoding === 'gzip' ? gunzipSync(content).toString() : content.toString(),
        content,
        bytes: bytes ?? content.length,
        metadata,
        ...(encoding !== undefined && { encoding }),
      };
      objects.set(key, stored);
      time.after(
        keptMs(key) + LATE_MS * expiry(),
        () => {
          if (objects.get(key) !== stored) return;
          objects.delete(key);
          world.count('lifecycle removes an object');
          world.tell?.('lifecycle', `removes ${key}`);
        },
        true,
      );
      for (const tell of onCreated) tell(key, stored);
      return stored;
    },
  };
}
