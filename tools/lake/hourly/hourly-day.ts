import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LakeSource } from '../../../lake-check/lake-source.ts';
import { dayFolder } from '../../../lake-check/layout.ts';
import type { Report } from '../../../lib/report/catalogue.ts';
import type { Table } from '../../../lib/report/tables.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { LakeChanged } from '../store/bucket.ts';
import type { Workspace } from '../workspace/open-duckdb.ts';
import type { HoursLake } from './hourly-facts.ts';
import { hoursDaysIn, type ListedHoursDay, type ListedRawDay, rawDaysIn } from './hourly-facts.ts';
import { type Asked, type DayAction, type DayNote, planDay, type RawDay } from './hourly-plan.ts';
import { type Summed, writeHours } from './hours-file.ts';

/** A table, the raw lake and the lake of hours. */
export interface HourlyTable extends Asked {
  readonly workspace: Workspace;
  readonly raw: LakeSource;
  readonly hours: HoursLake;
  readonly table: Table;
  readonly report: Report;
  readonly isFinal: (raw: RawDay) => boolean;
  readonly columns: string;
}

/** The result for a day: it was written, the plan was not to write it, or it could not be written for this reason. */
export type DayOutcome =
  | ({ readonly action: 'write-final' | 'write-open' } & Summed)
  | { readonly action: Exclude<DayAction, 'write-final' | 'write-open'> }
  | { readonly action: 'left'; readonly reason: string };

/** A day that keeps changing is read at most this many times. */
const TRIES = 3;

/** Writes the hours of a day, if the plan says so. Starts over if either lake changes meanwhile. */
export async function makeDay(
  lakes: HourlyTable,
  day: string,
  listed: { readonly raw: ListedRawDay | undefined; readonly hours: ListedHoursDay | undefined },
): Promise<DayOutcome> {
  let { raw, hours } = listed;
  for (let tries = 1; ; tries++) {
    const action = planDay({ ...lakes, raw, hours, isFinal: raw !== undefined && lakes.isFinal(raw) });
    if (!raw || (action !== 'write-final' && action !== 'write-open')) return { action } as DayOutcome;
    try {
      return { action, ...(await writeDay(lakes, raw, hours, action)) };
    } catch (error) {
      if (!(error instanceof OperatorFault)) throw error;
      if (!(error instanceof LakeChanged)) return { action: 'left', reason: error.message };
      if (tries === TRIES)
        return { action: 'left', reason: `it changed each of the ${TRIES} times that it was read` };
    }
    raw = await listRawDay(lakes, day);
    hours = await listHoursDay(lakes, day);
  }
}

/** Throws LakeChanged if the raw day changed while it was read, or if another run has written the hours. */
async function writeDay(
  lakes: HourlyTable,
  raw: ListedRawDay,
  hours: ListedHoursDay | undefined,
  action: 'write-final' | 'write-open',
): Promise<Summed> {
  const { workspace, table, columns } = lakes;
  const directory = await mkdtemp(join(workspace.directory, 'hours-'));
  const note: DayNote = { from: lakes.raw.location, version: raw.version, isMarked: raw.isMarked, columns };
  const path = join(directory, 'hours.parquet');
  try {
    const openNote = action === 'write-open' ? JSON.stringify(note) : undefined;
    const summed = await sumDay(lakes, raw, path, openNote).catch((error: Error) => error);
    // If the day has changed, an error of the reading is not reported, because the change may have caused it.
    const after = await listRawDay(lakes, raw.day);
    if (after?.version !== raw.version || after.isMarked !== raw.isMarked)
      throw new LakeChanged(`${raw.day} changed while it was being read.`);
    if (summed instanceof Error) throw summed;
    await lakes.hours.publish({
      table: table.name,
      day: raw.day,
      path,
      others: hours?.otherFiles.map((file) => file.path) ?? [],
      ...(hours?.file?.digest && { over: hours.file.digest }),
      ...(action === 'write-final' && { note }),
    });
    return summed;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function sumDay(
  { workspace, raw: source, table, report }: HourlyTable,
  { listed }: ListedRawDay,
  path: string,
  openNote: string | undefined,
): Promise<Summed> {
  const [unread] = listed.filter(({ unreadable }) => unreadable !== undefined);
  if (unread) throw new OperatorFault(`${unread.path}: ${unread.unreadable}`);
  await using local = await source.filesOf(listed.filter(({ size }) => size > 0));
  return await writeHours(workspace.connection, { table, report }, local.files, path, openNote);
}

const listRawDay = async ({ raw, table }: HourlyTable, day: string): Promise<ListedRawDay | undefined> =>
  rawDaysIn(await raw.list(dayFolder(table.name, day)), table.name)[0];

const listHoursDay = async (
  { workspace, hours, table }: HourlyTable,
  day: string,
): Promise<ListedHoursDay | undefined> => {
  const listed = await hours.list(dayFolder(table.name, day));
  return (await hoursDaysIn(workspace.connection, hours, listed, table.name, () => true))[0];
};
