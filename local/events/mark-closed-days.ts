import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dayFolder, SUCCESS_MARKER } from '../../lake-check/layout.ts';

/**
 * Puts the marker of a complete day into all days of the sample events but the last, which is still open. Does nothing
 * if the markers exist.
 *
 * @param days the days of each table, in their order
 */
export async function markClosedDays(
  directory: string,
  tables: readonly string[],
  days: readonly string[],
): Promise<void> {
  const markers = tables.flatMap((table) =>
    days.slice(0, -1).map((day) => join(directory, dayFolder(table, day), SUCCESS_MARKER)),
  );
  // The last marker is written last: if it exists, all the others do.
  const last = markers.at(-1);
  if (!last || existsSync(last)) return;
  for (const marker of markers) await writeFile(marker, '');
}
