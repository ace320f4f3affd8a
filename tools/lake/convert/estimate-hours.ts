import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { escapeGlob } from '../../../lake-check/read-footers.ts';
import { quoteName, quoteText, quoteTime } from '../../../lib/report/quote-sql.ts';
import { TIME_COLUMN } from '../../../lib/report/tables.ts';
import { type DayFile, dayCopy, daySelect, writeDay } from '../day-file.ts';
import type { Workspace } from '../workspace/open-duckdb.ts';
import type { Staged, StagedDay } from './stage.ts';

/** The size of some hours of a day: as written, and summed by the hour. */
export interface HoursEstimate {
  readonly day: string;
  readonly hours: number;
  readonly rows: number;
  readonly bytes: number;
  readonly summedRows: number;
  readonly summedBytes: number;
}

/** An estimate may sum this share of all rows. That takes about the same share of the conversion's time. */
const SAMPLED_SHARE = 0.02;

/** An estimate may sum this many rows in any case, because that takes no noticeable time. */
const FEW_ROWS = 100_000;

/** The day with the median number of rows. */
export const middleDay = (days: readonly StagedDay[]): StagedDay | undefined =>
  days.toSorted((a, b) => a.rows - b.rows)[Math.floor(days.length / 2)];

/** Chooses the hours to sum: all hours if that costs little, otherwise some hours of about median size. */
export function sampledHours<Hour extends { readonly rows: number }>(
  hours: readonly Hour[],
  allRows: number,
): Hour[] {
  const most = Math.max(FEW_ROWS, allRows * SAMPLED_SHARE);
  const sorted = hours.toSorted((a, b) => a.rows - b.rows);
  const middle = Math.floor(sorted.length / 2);
  // The hour of median size comes first, then its neighbours on both sides in turn.
  const outwards = sorted
    .map((hour, index) => ({ hour, distance: Math.abs(index - middle) }))
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ hour }) => hour);
  let rows = 0;
  return outwards.filter((hour, index) => {
    rows += hour.rows;
    return index === 0 || rows <= most;
  });
}

/**
 * Estimates what sums by the hour would save: sums some hours of a day whose files have just been made. Resolves to
 * undefined if that fails, for example because a sum does not fit its column.
 */
export async function estimateHours(
  { connection, directory }: Workspace,
  { table, report }: Staged,
  { day, rows }: StagedDay,
  files: readonly DayFile[],
  allRows: number,
): Promise<HoursEstimate | undefined> {
  const source = `read_parquet([${files.map(({ path }) => quoteText(escapeGlob(path))).join(', ')}], hive_partitioning = false)`;
  const hour = `date_trunc('hour', ${quoteName(TIME_COLUMN)})`;
  const counted = await connection.runAndReadAll(
    `SELECT epoch_ms(${hour}), count(*) FROM ${source} GROUP BY ALL ORDER BY ALL`,
  );
  const hours = (counted.getRowsJS() as bigint[][]).map(([at, count]) => ({
    at: Number(at),
    rows: Number(count),
  }));
  const sampled = sampledHours(hours, allRows);
  const sampledRows = sampled.reduce((sum, one) => sum + one.rows, 0);
  const all = sampled.length === hours.length;
  const where = all ? '' : ` WHERE ${hour} IN (${sampled.map(({ at }) => quoteTime(at)).join(', ')})`;
  const target = join(directory, 'estimate');
  const select = daySelect(table, report, `(SELECT * FROM ${source}${where})`, true);
  try {
    const summed = await writeDay(connection, dayCopy(select, sampledRows, target), target, day);
    const [[summedRows] = []] = (
      await connection.runAndReadAll(
        `SELECT count(*) FROM read_parquet(${quoteText(join(escapeGlob(target), '*'))})`,
      )
    ).getRowsJS() as bigint[][];
    return {
      ...{ day, hours: sampled.length, rows: sampledRows, summedRows: Number(summedRows) },
      bytes: Math.round((await bytesOf(files)) * (sampledRows / rows)),
      summedBytes: await bytesOf(summed),
    };
  } catch {
    return undefined;
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}

async function bytesOf(files: readonly DayFile[]): Promise<number> {
  const sizes = await Promise.all(files.map(async ({ path }) => (await stat(path)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
