import { type MemoryS3, memoryS3, type StoredObject } from '../s3/memory-s3.ts';
import { namedDice } from './random.ts';
import type { World } from './world.ts';

/** The objects of the results bucket, with the bucket's lifecycle. All functions share them. */
export interface ModelledS3 extends MemoryS3 {
  /** Called after an object is created. */
  readonly onCreated: ((key: string, object: StoredObject) => void)[];
  /** The latest writes to each key, so that two writes at the same time can conflict. */
  readonly writing: Map<string, readonly { readonly at: number; readonly isOver: boolean }[]>;
}

const DAY_MS = 86_400_000;
const LONG_DAYS = 7;
const WAITING_DAYS = 2;

/** Objects that are kept only while a caller may wait (`infra/data/results-bucket.ts`). Others are kept for a week. */
const WAITING = /^(waiting|publications|abandoned|slots)\//;

const keptMs = (key: string): number => (WAITING.test(key) ? WAITING_DAYS : LONG_DAYS) * DAY_MS;

/** S3 removes half of the expired objects at once, and the others up to a day late. */
const LATE_MS = DAY_MS;

export function modelledS3(world: World): ModelledS3 {
  const { time, seed } = world;
  const onCreated: ModelledS3['onCreated'] = [];
  const expiry = namedDice(seed, 'lifecycle');
  const s3 = memoryS3(time.now, {
    onRead(key, found) {
      // S3 may remove an expired object at any moment. The worst moment is just after a function has read the object.
      if (time.now() - found.lastModified >= keptMs(key) && expiry() < 0.3)
        expire(key, found, expiry() < 0.5 ? expiry() * 60 : expiry() * 300_000);
    },
    onCreated(key, stored) {
      expire(key, stored, keptMs(key) + (expiry() < 0.5 ? 0 : LATE_MS * expiry()));
      for (const tell of onCreated) tell(key, stored);
    },
  });
  const expire = (key: string, stored: StoredObject, afterMs: number) =>
    time.silentlyAfter(afterMs, () => {
      if (s3.objects.get(key) !== stored) return;
      s3.objects.delete(key);
      world.count('lifecycle removes an object');
      world.tell?.('lifecycle', `removes ${key}`);
    });
  return { ...s3, onCreated, writing: new Map() };
}
