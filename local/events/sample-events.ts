import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { reports } from '../../lib/report/catalogue.ts';
import { isAlive } from '../stack-file.ts';
import { DRAW_MACROS } from './draws.ts';
import { markClosedDays } from './mark-closed-days.ts';
import { sampleDays } from './sample-days.ts';
import { sampleRows } from './sample-rows.ts';
import { type SampleFiles, writeSampleFiles } from './write-sample-files.ts';

export interface SampleEvents {
  /** Where sample events are kept, each set in a directory of its own. */
  readonly directory: string;
  /** How many records each table gets. */
  readonly records?: number;
  /** By table, where a table is to get another number. */
  readonly recordsOf?: Readonly<Record<string, number>>;
  /** Whether some texts are hard for CSV writers, SQL builders and readers. */
  readonly hasAwkwardTexts?: boolean;
  /** Called at the start and after each day of a table, with the number of days that are done. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Makes events of January and February 2026, the same on every machine, unless they are there already.
 * Resolves to the directory that holds the tables. Its name is derived from the SQL that makes the records, so that
 * a changed generator makes new ones.
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
  // A set that an earlier version has made has no markers.
  const mark = (made: string) =>
    markClosedDays(
      made,
      reports.map(({ table }) => table),
      sampleDays(0).map(({ day }) => day),
    );
  await mkdir(directory, { recursive: true });
  await removeInterrupted(directory);
  if (existsSync(target)) {
    await mark(target);
    return target;
  }

  // Written under another name until it is complete: a killed run leaves nothing that looks complete.
  const partial = await mkdtemp(`${target}-partial-${process.pid}-`);
  const total = files.reduce((count, { days }) => count + days.length, 0);
  let done = 0;
  onProgress(done, total);
  try {
    await writeSampleFiles(partial, files, () => onProgress(++done, total));
    await mark(partial);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Taken: another process has made the same events in the meantime.
    if (!['ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  }
  return target;
}

/** The name of an unfinished set contains the id of the process that makes it. Earlier versions left it out. */
const UNFINISHED = /^sample-\w+-partial-(?:(\d+)-)?/;

/** Removes sets whose process was killed before they were whole: each has up to 100 MB. */
async function removeInterrupted(directory: string): Promise<void> {
  const interrupted = (await readdir(directory)).filter((name) => {
    const match = UNFINISHED.exec(name);
    return match && !isAlive(match[1] === undefined ? undefined : Number(match[1]));
  });
  await Promise.all(interrupted.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}

/** A statement's records lie in memory, at some 170 bytes each, until their files are written. */
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
