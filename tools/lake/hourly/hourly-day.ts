import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LakeSource } from '../../../lake-check/lake-source.ts';
import { dayFolder } from '../../../lake-check/layout.ts';
import type { Report } from '../../../lib/report/catalogue.ts';
import type { Table } from '../../../lib/report/tables.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { LakeChanged } from '../store/bucket.ts';
import { daysIn, type LakeDay } from '../store/lake-target.ts';
import type { Workspace } from '../workspace/open-duckdb.ts';
import { type HoursLake, hoursDaysIn } from './hourly-facts.ts';
import { type Asked, type DayAction, type DayNote, type HoursDay, planDay } from './hourly-plan.ts';
import { type Summed, writeHours } from './hours-file.ts';

/** A table, the raw lake and the lake of hours. */
export interface HourlyTable extends Asked {
  readonly workspace: Workspace;
  readonly raw: LakeSource;
  readonly hours: HoursLake;
  readonly table: Table;
  readonly report: Report;
  readonly isFinal: (raw: LakeDay) => boolean;
}

/** What became of a day. A day that should have been written but could not be is `left`, for this reason. */
export interface DayOutcome {
  readonly action: DayAction | 'left';
  readonly reason?: string;
  readonly summed?: Summed;
}

/** A day that keeps changing is read at most this many times. */
const TRIES = 3;

/** Writes the hours of a day, if the plan says so. Starts over if either lake changes meanwhile. */
export async function makeDay(
  lakes: HourlyTable,
  day: string,
  listed: { readonly raw: LakeDay | undefined; readonly hours: HoursDay | undefined },
): Promise<DayOutcome> {
  const { workspace, table } = lakes;
  const columns = table.columns.map(({ name }) => name).join();
  let { raw, hours } = listed;
  for (let tries = 1; ; tries++) {
    const action = planDay({ ...lakes, raw, hours, columns });
    if (!raw || (action !== 'write-final' && action !== 'write-open')) return { action };
    const { version, isMarked } = raw;
    const note: DayNote = { from: lakes.raw.location, version, isMarked, columns };
    try {
      return { action, summed: await writeDay(lakes, raw, hours, note, action === 'write-final') };
    } catch (error) {
      if (!(error instanceof OperatorFault)) throw error;
      if (!(error instanceof LakeChanged)) return { action: 'left', reason: error.message };
      if (tries === TRIES)
        return { action: 'left', reason: `it changed each of the ${TRIES} times that it was read` };
    }
    raw = await listRawDay(lakes, day);
    const inHours = await lakes.hours.list(dayFolder(table.name, day));
    [hours] = await hoursDaysIn(workspace.connection, lakes.hours, inHours, table.name, () => true);
  }
}

const listRawDay = async ({ raw, table }: HourlyTable, day: string): Promise<LakeDay | undefined> =>
  daysIn(await raw.list(dayFolder(table.name, day)), table.name)[0];

/** Throws LakeChanged if the raw day changed while it was read, or if another run has written the hours. */
async function writeDay(
  lakes: HourlyTable,
  raw: LakeDay,
  hours: HoursDay | undefined,
  note: DayNote,
  isFinal: boolean,
): Promise<Summed> {
  const directory = await mkdtemp(join(lakes.workspace.directory, 'hours-'));
  const path = join(directory, 'hours.parquet');
  try {
    const openNote = isFinal ? undefined : JSON.stringify(note);
    const summed = await sumDay(lakes, raw, path, openNote).catch((error: Error) => error);
    // If the day has changed, an error of the reading is not reported, because the change may have caused it.
    const after = await listRawDay(lakes, raw.day);
    if (after?.version !== raw.version || after.isMarked !== raw.isMarked)
      throw new LakeChanged(`${raw.day} changed while it was being read.`);
    if (summed instanceof Error) throw summed;
    await lakes.hours.publish({
      ...{ table: lakes.table.name, day: raw.day, path },
      others: hours?.others.map((file) => file.path) ?? [],
      over: hours?.file?.digest,
      note: isFinal ? note : undefined,
    });
    return summed;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function sumDay(
  { workspace, raw, table, report }: HourlyTable,
  { files }: LakeDay,
  path: string,
  openNote: string | undefined,
): Promise<Summed> {
  const unread = files.find(({ unreadable }) => unreadable !== undefined);
  if (unread) throw new OperatorFault(`${unread.path}: ${unread.unreadable}`);
  await using local = await raw.filesOf(files.filter(({ size }) => size > 0));
  return await writeHours(workspace.connection, { table, report }, local.files, path, openNote);
}
