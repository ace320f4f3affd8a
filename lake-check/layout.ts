import { reports } from '../lib/report/catalogue.ts';
import { PARTITION_COLUMN, tableOf } from '../lib/report/tables.ts';
import type { LakeFacts, ListedFile, TableFacts } from './lake-facts.ts';

/** The marker of Spark and Hadoop. A day that holds it is complete. */
export const SUCCESS_MARKER = '_SUCCESS';

const PARTITION_PREFIX = `${PARTITION_COLUMN}=`;

/** The folder of a day: `publisher_events/day=2026-01-31`. */
export const dayFolder = (table: string, day: string): string => `${table}/${PARTITION_PREFIX}${day}`;

/**
 * Sorts the files of a lake by table. Sorts a table's files into files of days, files outside of days, and files that
 * the engines leave out. Files and folders that can't be read are listed apart.
 */
export function layoutOf(location: string, listed: readonly ListedFile[], today: string): LakeFacts {
  const names = reports.map(({ table }) => table);
  const first = listed.map(({ path }) => path.split('/', 1)[0] as string);
  const unreadable = listed.filter(
    ({ path, unreadable }, index) =>
      unreadable !== undefined && names.includes(first[index] as string) && !path.split('/').some(isHidden),
  );
  return {
    location,
    today,
    unreadable,
    others: [...new Set(first)].filter((name) => !names.includes(name) && !isHidden(name)).sort(),
    tables: reports.map((report) => {
      const table = tableOf(report);
      const here = listed.filter((file, index) => first[index] === table.name && !file.unreadable);
      const own = here.filter(({ path }) => path !== table.name);
      const exists = own.length > 0 || unreadable.some(({ path }) => path.split('/')[0] === table.name);
      return { table, report, isFile: own.length < here.length, exists, ...sorted(own) };
    }),
  };
}

function sorted(listed: readonly ListedFile[]): Pick<TableFacts, 'days' | 'strays' | 'hidden'> {
  const strays: ListedFile[] = [];
  const hidden: ListedFile[] = [];
  const files = new Map<string, ListedFile[]>();
  const succeeded = new Map<string, number>();
  // A key that ends with a slash is a folder that the S3 console has made.
  for (const file of listed.filter(({ path }) => !path.endsWith('/'))) {
    const [, folder = '', ...rest] = file.path.split('/');
    const day = dayOf(folder);
    if (day && rest.length === 1 && rest[0] === SUCCESS_MARKER) succeeded.set(day, file.modifiedAt);
    else if ([folder, ...rest].some(isHidden)) hidden.push(file);
    else if (!day || rest.length === 0) strays.push(file);
    else files.set(day, [...(files.get(day) ?? []), file]);
  }
  const days = [...files].sort().map(([day, files]) => ({ day, files, succeededAt: succeeded.get(day) }));
  return { days, strays, hidden };
}

/** Whether the engines leave out a file or folder of this name. */
export const isHidden = (name: string): boolean => /^[._]/.test(name);

/** The day in a folder's name. Undefined if Athena would never look into the folder. */
export function dayOf(folder: string): string | undefined {
  if (!folder.startsWith(PARTITION_PREFIX)) return undefined;
  const day = folder.slice(PARTITION_PREFIX.length);
  const time = Date.parse(`${day}T00:00:00Z`);
  // The round trip refuses dates that Date.parse rolls over or completes: 2026-02-31, 2026-1-5.
  return !Number.isNaN(time) && new Date(time).toISOString() === `${day}T00:00:00.000Z` ? day : undefined;
}
