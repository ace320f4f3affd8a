import type { Lake, LakeListing, LakeObject } from '../../../lib/lake/data-version.ts';

/** A lake in memory, with access for tests to its objects and calls. */
export interface MemoryLake extends Lake {
  /** The objects that the next listing shows; undefined if the lake can not be listed. */
  objects: readonly LakeObject[] | undefined;
  /** True if the table is missing: the lake has no object of it, whatever the day. */
  isTableMissing: boolean;
  /** For each call of `list`, the greatest age that it allowed for a listing, in milliseconds. */
  readonly looks: number[];
  /** Adds a file to a day. */
  add(day: string, name: string): void;
  /** Gives every file a later time, as if each file was written again. */
  writeAgain(): void;
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
    isTableMissing: false,
    looks,
    folderOf: ({ table }) => `${table}/`,
    async list(_report, _window, maxAgeMs): Promise<LakeListing | undefined> {
      looks.push(maxAgeMs);
      const { objects, isTableMissing } = this;
      return objects && { objects, listedAt: Date.now(), ...(isTableMissing && { isTableMissing }) };
    },
    add(day, name) {
      this.objects = [...(this.objects ?? []), lakeObject(`publisher_events/day=${day}/${name}`)];
    },
    writeAgain() {
      this.objects = this.objects?.map((each) => ({ ...each, lastModified: each.lastModified + 1_000 }));
    },
  };
}
