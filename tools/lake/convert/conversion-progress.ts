import type { DuckDBConnection } from '@duckdb/node-api';
import type { OnProgress } from '../../../lib/terminal/progress.ts';
import type { InputFile } from '../input/input-files.ts';

/** The time between two messages about the progress. Work that ends within this time shows no progress. */
const POLL_EVERY_MS = 1_000;

/** Progress is counted from 0 to this number. With a total as large as this, it is shown as a percentage. */
const WHOLE = 1_000_000;

/** The share of the time that reading takes: of text three times as long as to write the days, of Parquet half. */
const READING_SHARE = { read_csv: 0.75, read_parquet: 0.35 };

export type ConversionProgress = ReturnType<typeof followProgress>;

/**
 * Turns the progress of reading files and of writing days into one number for the whole conversion. Polls the progress
 * of DuckDB's query every second, until `end` is called or the result is disposed of.
 */
export function followProgress(
  connection: Pick<DuckDBConnection, 'progress'>,
  files: readonly Pick<InputFile, 'name' | 'read'>[],
  onProgress: OnProgress,
) {
  const what = `Converting ${files.length === 1 ? files[0]?.name : `${files.length} files`}`;
  const reading = Math.max(READING_SHARE.read_parquet, ...files.map(({ read }) => READING_SHARE[read.call]));
  let [from, length, done] = [0, 0, 0];
  const timer = setInterval(() => {
    // DuckDB reports -1 for an unknown percentage. The progress never goes back.
    const share = Math.min(100, Math.max(0, connection.progress.percentage)) / 100;
    done = Math.max(done, Math.floor(WHOLE * (from + length * share)));
    if (done < WHOLE) onProgress(what, done, WHOLE);
  }, POLL_EVERY_MS).unref();
  return {
    /** Call it when a query begins: the share of all bytes that it reads, and the share that was read before. */
    readFrom(before: number, share: number) {
      [from, length] = [reading * before, reading * share];
    },
    /** Call it when a day is written: its share of all rows, and the share that was written before. */
    writeFrom(before: number, share: number) {
      [from, length] = [reading + (1 - reading) * before, (1 - reading) * share];
    },
    end() {
      clearInterval(timer);
      done = WHOLE;
      onProgress(what, WHOLE, WHOLE);
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      // The error message is printed on a line of its own.
      if (done > 0 && done < WHOLE && process.stderr.isTTY) process.stderr.write('\n');
    },
  };
}
