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
    more?: {
      readonly bytes?: number;
      readonly metadata?: Readonly<Record<string, string>>;
      readonly encoding?: string;
    },
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
const WAITING = /^(tickets|waiting|publications|abandoned|shares|slots)\//;

const keptMs = (key: string): number => (WAITING.test(key) ? WAITING_DAYS : LONG_DAYS) * DAY_MS;

/** S3 removes what is old enough up to a day late. */
const LATE_MS = DAY_MS;

export function modelledS3(world: World): ModelledS3 {
  const { time, seed } = world;
  const objects = new Map<string, StoredObject>();
  const onCreated: ModelledS3['onCreated'] = [];
  const expiry = namedDice(seed, 'lifecycle');
  let writes = 0;
  const expire = (key: string, stored: StoredObject, afterMs: number) =>
    time.after(
      afterMs,
      () => {
        if (objects.get(key) !== stored) return;
        objects.delete(key);
        world.count('lifecycle removes an object');
        world.tell?.('lifecycle', `removes ${key}`);
      },
      true,
    );
  return {
    objects,
    onCreated,
    writing: new Map(),
    get(key) {
      const found = objects.get(key);
      // Old enough to be removed at any moment: the worst one is just after somebody has seen it.
      if (found && time.now() - found.lastModified >= keptMs(key) && expiry() < 0.3)
        expire(key, found, expiry() < 0.5 ? expiry() * 60 : expiry() * 300_000);
      return found;
    },
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
      expire(key, stored, keptMs(key) + LATE_MS * expiry());
      for (const tell of onCreated) tell(key, stored);
      return stored;
    },
  };
}
