import type { DuckDBConnection } from '@duckdb/node-api';
import type { OnProgress } from '../../../lib/terminal/progress.ts';
import type { InputFile } from '../input/input-files.ts';

/** The time between two messages about the progress. Work that ends within this time shows no progress. */
const POLL_EVERY_MS = 1_000;

/** Progress is counted from 0 to this number. With a total as large as this, it is shown as a percentage. */
const WHOLE = 1_000_000;

/** The share of the time that reading takes: of text three times as long as to write the days, of Parquet half. */
const READING_SHARE = { text: 0.75, parquet: 0.35 };

/** Turns the progress of reading files and of writing days into one number for the whole conversion. */
export interface ConversionProgress extends Disposable {
  /** Call it when a query begins: the share of all bytes that it reads, and the share that was read before. */
  readFrom(before: number, share: number): void;
  /** Call it when the writing of a day begins: its share of all rows, and the share that was written before. */
  writeFrom(before: number, share: number): void;
  end(): void;
}

/** Polls the progress of DuckDB's query every second, until `end` is called or the result is disposed of. */
export function followProgress(
  connection: Pick<DuckDBConnection, 'progress'>,
  files: readonly Pick<InputFile, 'name' | 'isText'>[],
  onProgress: OnProgress,
): ConversionProgress {
  const what = `Converting ${files.length === 1 ? files[0]?.name : `${files.length} files`}`;
  const reading = files.some(({ isText }) => isText) ? READING_SHARE.text : READING_SHARE.parquet;
  let [from, length, done] = [0, 0, 0];
  const timer = setInterval(() => {
    // DuckDB reports -1 for an unknown percentage. The progress never goes back.
    const share = Math.min(100, Math.max(0, connection.progress.percentage)) / 100;
    done = Math.max(done, Math.floor(WHOLE * (from + length * share)));
    if (done < WHOLE) onProgress(what, done, WHOLE);
  }, POLL_EVERY_MS).unref();
  return {
    readFrom(before, share) {
      [from, length] = [reading * before, reading * share];
    },
    writeFrom(before, share) {
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
