import { mkdtempDisposable } from 'node:fs/promises';
import { join } from 'node:path';
import { adviceOf, fits } from '../../../lake-check/column-types.ts';
import { checkCommand, convertLake } from '../../../lake-check/commands.ts';
import { type Footer, tellFault } from '../../../lake-check/lake-facts.ts';
import type { LakeSource } from '../../../lake-check/lake-source.ts';
import { dayFolder } from '../../../lake-check/layout.ts';
import { type LocalFile, pathList } from '../../../lake-check/read-footers.ts';
import { readWholeFile } from '../../../lake-check/verify-pages.ts';
import type { Report } from '../../../lib/report/catalogue.ts';
import { quoteName, quoteText } from '../../../lib/report/quote-sql.ts';
import type { Table } from '../../../lib/report/tables.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { dayFormat, daySelect, sumFault } from '../day-file.ts';
import type { Workspace } from '../open-duckdb.ts';
import { LakeChanged } from '../store/bucket.ts';
import { daysIn, type LakeDay } from '../store/lake-target.ts';
import { type HoursLake, hoursDaysIn, OPEN_NOTE } from './hourly-facts.ts';
import { type Asked, type DayAction, type DayNote, type HoursDay, planDay } from './hourly-plan.ts';

/** A table, the raw lake and the lake of hours. */
export interface HourlyTable extends Asked {
  readonly workspace: Workspace;
  readonly raw: LakeSource;
  readonly hours: HoursLake;
  readonly table: Table;
  readonly report: Report;
  readonly isFinal: (raw: LakeDay) => boolean;
}

/** The number of raw records, and the number of records that remain after they are summed by the hour. */
type Summed = Readonly<Record<'records' | 'hours', number>>;

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
  await using directory = await mkdtempDisposable(join(lakes.workspace.directory, 'hours-'));
  const path = join(directory.path, 'hours.parquet');
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
}

/**
 * Sums a day's raw files by the hour into one file. Throws an OperatorFault if a file can't be read or breaks the data
 * contract, or if an hour's sum is too large for its column.
 *
 * @param openNote the note to write into the file of an open day
 */
async function sumDay(
  { workspace: { connection }, raw, table, report }: HourlyTable,
  { files }: LakeDay,
  path: string,
  openNote: string | undefined,
): Promise<Summed> {
  const unread = files.find(({ unreadable }) => unreadable !== undefined);
  if (unread) throw new OperatorFault(`${unread.path}: ${unread.unreadable}`);
  await using local = await raw.filesOf(files.filter(({ size }) => size > 0));
  const read: { readonly file: LocalFile; readonly footer: Footer }[] = [];
  for (const file of local.files) read.push({ file, footer: await usable(raw.location, table, file) });
  // Files with the same types are read together: a day may have thousands.
  const alike = Map.groupBy(read, ({ footer }) =>
    table.columns.map(({ name }) => footer.types.get(name)).join(),
  );
  const sources = [...alike.values()].map((group) => {
    const from = `read_parquet(${pathList(group.map(({ file }) => file))}, hive_partitioning = false)`;
    return `${selectOf(table, ({ name }) => group[0]?.footer.types.has(name))} FROM ${from}`;
  });
  const source = sources.join(' UNION ALL ') || `${selectOf(table, () => false)} WHERE false`;
  try {
    await connection.run(
      `CREATE OR REPLACE TEMP TABLE hours_of_day AS ${daySelect(table, report, `(${source})`, true)}`,
    );
    const reader = await connection.runAndReadAll('SELECT count(*) FROM hours_of_day');
    const hours = Number(reader.getRowsJS()[0]?.[0]);
    const note = openNote ? `, KV_METADATA {${OPEN_NOTE}: ${quoteText(openNote)}}` : '';
    await connection.run(`COPY (FROM hours_of_day) TO ${quoteText(path)} (${dayFormat(hours)}${note})`);
    return { records: read.reduce((sum, { footer }) => sum + footer.rows, 0), hours };
  } catch (error) {
    const cure =
      "Look for wrong values in it; if they are right, the service can't read this table by the hour";
    const [reason] = (error as Error).message.split('\n', 1);
    throw (
      sumFault(error as Error, 'an hour', cure) ??
      new OperatorFault(`it can't be summed: ${reason}. What is wrong with it: ${checkCommand(raw.location)}`)
    );
  } finally {
    await connection.run('DROP TABLE IF EXISTS hours_of_day');
  }
}

/** The file's footer. Throws an OperatorFault if the engines would not read the file as the data contract says. */
async function usable(lake: string, table: Table, { id, path }: LocalFile): Promise<Footer> {
  const footer = await readWholeFile(path);
  if ('found' in footer) throw new OperatorFault(`${id}: ${tellFault(footer)}`);
  const [twice] = footer.doubledNames.filter((name) => table.columns.some((column) => column.name === name));
  if (twice)
    throw new OperatorFault(`${id} holds ${twice} more than once (the case of letters does not count)`);
  for (const { name, type } of table.columns) {
    const found = footer.types.get(name);
    if (found && !fits(type, found))
      throw new OperatorFault(
        `${id}: ${name} is ${found}, and the contract has ${type}. ${adviceOf(type, found, name, `Convert the lake, and sum the new one: ${convertLake(lake)}`)}`,
      );
  }
  return footer;
}

/** SQL for the contract's columns, with its types. A column that the files don't have is NULL. */
const selectOf = (table: Table, has: (column: Table['columns'][number]) => boolean | undefined): string =>
  `SELECT ${table.columns.map((column) => `CAST(${has(column) ? quoteName(column.name) : 'NULL'} AS ${column.type}) AS ${quoteName(column.name)}`).join(', ')}`;
