import type { Lake, LakeListing, LakeObject } from '../../../lib/delivery/lake.ts';

/** A lake in memory, and how a test looks into and changes it. */
export interface MemoryLake extends Lake {
  /** What the next listing shows; undefined where nothing can be listed. */
  objects: readonly LakeObject[] | undefined;
  /** The greatest age that each call allowed its listing, in milliseconds. */
  readonly looks: number[];
  /** Adds a file to a day. */
  add(day: string, name: string): void;
}

export const lakeObject = (key: string, more: Partial<LakeObject> = {}): LakeObject => ({
  key,
  etag: `"${key}"`,
  bytes: 100,
  lastModified: 1_000,
  ...more,
});

export function memoryLake(...keys: string[]): MemoryLake {
  const looks: number[] = [];
  return {
    objects: keys.map((key) => lakeObject(key)),
    looks,
    folderOf: ({ table }) => `${table}/`,
    async list(_report, _window, maxAgeMs): Promise<LakeListing | undefined> {
      looks.push(maxAgeMs);
      return this.objects && { objects: this.objects, listedAt: Date.now() };
    },
    add(day, name) {
      this.objects = [...(this.objects ?? []), lakeObject(`publisher_events/day=${day}/${name}`)];
    },
  };
}
