import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { reports } from '../../lib/report/catalogue.ts';
import { isAlive, thisPlace } from '../run-folder.ts';
import { DRAW_MACROS } from './draws.ts';
import { sampleDays, sampleRows } from './sample-rows.ts';
import { markClosedDays, type SampleFiles, writeSampleFiles } from './write-sample-files.ts';

export interface SampleEvents {
  /** The directory for sample events. Each set of events has a directory of its own in it. */
  readonly directory: string;
  /** How many records each table gets. */
  readonly records?: number;
  /** The number of records of a table, by its name, in place of `records`. */
  readonly recordsOf?: Readonly<Record<string, number>>;
  /** Whether some texts are hard for CSV writers, SQL builders and readers. */
  readonly hasAwkwardTexts?: boolean;
  /** Called at the start and after each day of a table, with the number of days that are done. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Makes the events of January and February 2026, unless they exist already. They are the same on every machine.
 * Resolves to the directory that holds the tables. Its name is derived from the SQL that makes the records, so a
 * changed generator makes a new directory.
 */
export async function makeSampleEvents({
  directory,
  records = 2_000_000,
  recordsOf = {},
  hasAwkwardTexts = false,
  onProgress = () => {},
}: SampleEvents): Promise<string> {
  const files = sampleFiles((table) => recordsOf[table] ?? records, hasAwkwardTexts);
  const version = createHash('sha256').update(DRAW_MACROS).update(JSON.stringify(files)).digest('hex');
  const target = join(resolve(directory), `sample-${version.slice(0, 12)}`);
  await mkdir(directory, { recursive: true });
  await removeInterrupted(directory);
  if (existsSync(target)) return target;

  // The set has another name until it is complete, so a killed run leaves nothing that looks complete.
  const partial = await mkdtemp(`${target}-partial-${process.pid}-${thisPlace}-`);
  const total = files.reduce((count, { days }) => count + days.length, 0);
  let done = 0;
  onProgress(done, total);
  try {
    await writeSampleFiles(partial, files, () => onProgress(++done, total));
    const tables = reports.map(({ table }) => table);
    await markClosedDays(
      partial,
      tables,
      sampleDays(0).map(({ day }) => day),
    );
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // The name is taken if another process has made the same events in the meantime.
    if (!['ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  }
  return target;
}

/** The name of an unfinished set contains the process that makes it, and the place of that process. */
const UNFINISHED = /^sample-\w+-partial-(?:(\d+)-([\da-f]{8})-)?/;

/** An unfinished set of another place may be under way for this time. */
const LONGEST_MAKING_MS = 3_600_000;

/** Removes unfinished sets whose process was killed. Each set has up to 100 MB. */
async function removeInterrupted(directory: string): Promise<void> {
  const interrupted = (await readdir(directory)).filter((name) => {
    const [match, pid, place] = UNFINISHED.exec(name) ?? [];
    if (match === undefined) return false;
    if (place === thisPlace) return !isAlive(Number(pid));
    const made = statSync(join(directory, name), { throwIfNoEntry: false });
    return made !== undefined && made.mtimeMs < Date.now() - LONGEST_MAKING_MS;
  });
  await Promise.all(interrupted.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}

/**
 * About how many records one statement makes. They stay in memory, at some 170 bytes each, until their files are
 * written.
 */
const RECORDS_A_STATEMENT = 250_000;

const sampleFiles = (recordsOf: (table: string) => number, hasAwkwardTexts: boolean): SampleFiles[] =>
  reports.flatMap((report, index) => {
    const all = sampleDays(recordsOf(report.table));
    const statements = Math.max(1, Math.ceil(recordsOf(report.table) / RECORDS_A_STATEMENT));
    const daysEach = Math.ceil(all.length / statements);
    return Array.from({ length: Math.ceil(all.length / daysEach) }, (_, part) => {
      const days = all.slice(part * daysEach, (part + 1) * daysEach);
      return {
        table: report.table,
        days: days.map(({ day, late, end }) => ({ day, isRestated: late < end })),
        rows: sampleRows(report, index, days, hasAwkwardTexts),
      };
    });
  });
