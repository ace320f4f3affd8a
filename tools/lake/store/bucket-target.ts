import { createReadStream } from 'node:fs';
import { dayFolder, dayOf, isHidden, SUCCESS_MARKER } from '../../../lake-check/layout.ts';
import { openBucket } from './bucket.ts';
import { EMPTY_TABLE, type LakeTarget } from './lake-target.ts';

/**
 * A lake in a bucket. S3 can't rename a folder, so a reader may see a part of a day that is being written. Its marker
 * is then missing, because it is removed first and written last. A writer that is killed in between leaves the day
 * open. Writing the day again completes it.
 */
export function bucketTarget(location: string): LakeTarget {
  const bucket = openBucket(location);
  return {
    async writtenDays(table) {
      const listed = await bucket.list(`${table}/`);
      const days = listed
        .map(({ path }) => path.split('/'))
        .filter(([, , name]) => name && !isHidden(name))
        .map(([, folder = '']) => dayOf(folder));
      return new Set(days.filter((day) => day !== undefined));
    },
    async replaceDay({ table, day, files, marker }) {
      const folder = dayFolder(table, day);
      const markerPath = `${folder}/${SUCCESS_MARKER}`;
      const before = await bucket.list(`${folder}/`);
      await bucket.remove([markerPath]);
      const written = files.map(({ name }) => `${folder}/${name}`);
      for (const [index, { path }] of files.entries())
        await bucket.write(written[index] as string, createReadStream(path));
      const old = before
        .map(({ path }) => path)
        .filter((path) => !written.includes(path) && path !== markerPath);
      if (old.length > 0) await bucket.remove(old);
      if (marker !== undefined) await bucket.write(markerPath, marker);
    },
    async makeTable(table) {
      await bucket.write(`${table}/${EMPTY_TABLE}`, '');
    },
    async tables() {
      const listed = await bucket.list();
      return new Set(listed.map(({ path }) => path.split('/', 1)[0] as string));
    },
  };
}
