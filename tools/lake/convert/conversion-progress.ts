import type { DuckDBConnection } from '@duckdb/node-api';
import type { OnProgress } from '../../../lib/terminal/progress.ts';
import type { InputFile } from '../input/input-files.ts';

/** The time between two messages about the progress. Work that ends within this time shows no progress. */
const POLL_EVERY_MS = 1_000;

/** Progress is counted from 0 to this number. With a total as large as this, it is shown as a percentage. */
const WHOLE = 1_000_000;

/**
 * The share of the time that reading takes. To read text takes three times as long as to write the days. To read
 * Parquet takes half as long as to write them.
 */
const READING_SHARE = { text: 0.75, parquet: 0.35 };

/** Turns the progress of reading files and of writing days into one number for the whole conversion. */
export interface ConversionProgress extends Disposable {
  /** Call it when a query begins to read files with `bytes` bytes. `bytesBefore`: the bytes that were read before. */
  readFrom(bytesBefore: number, bytes: number): void;
  /** Call it when the writing of a day begins. `rowsBefore`: the rows of the days written before. */
  writeFrom(rowsBefore: number, rows: number, allRows: number): void;
  end(): void;
}

/** The part of the whole progress that one query covers, from 0 to 1. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Returns two functions. One gives the stretch of a query that reads files, the other that of writing a day. */
export function stretches(files: readonly Pick<InputFile, 'bytes' | 'isText'>[]) {
  const share = files.some(({ isText }) => isText) ? READING_SHARE.text : READING_SHARE.parquet;
  const allBytes = files.reduce((sum, { bytes }) => sum + bytes, 0) || 1;
  const reading = (bytes: number) => share * (bytes / allBytes);
  const writing = (rows: number, allRows: number) => share + (1 - share) * (rows / (allRows || 1));
  return {
    ofReading: (before: number, bytes: number): Stretch => ({
      from: reading(before),
      to: reading(before + bytes),
    }),
    ofWriting: (before: number, rows: number, allRows: number): Stretch => ({
      from: writing(before, allRows),
      to: writing(before + rows, allRows),
    }),
  };
}

/**
 * The progress of the whole conversion, at this percentage of the current query. DuckDB reports -1 for an unknown
 * percentage.
 */
export const wholeAt = ({ from, to }: Stretch, percentage: number): number =>
  Math.floor(WHOLE * (from + (to - from) * (Math.min(100, Math.max(0, percentage)) / 100)));

/** Polls the progress of DuckDB's query every second, until `end` is called or the result is disposed of. */
export function followProgress(
  connection: DuckDBConnection,
  files: readonly InputFile[],
  onProgress: OnProgress,
): ConversionProgress {
  const what = `Converting ${files.length === 1 ? files[0]?.name : `${files.length} files`}`;
  const { ofReading, ofWriting } = stretches(files);
  let stretch: Stretch = { from: 0, to: 0 };
  let done = 0;
  const tell = (percentage: number) => {
    // The progress never goes back, although a new query reports none at first.
    done = Math.max(done, wholeAt(stretch, percentage));
    if (done < WHOLE) onProgress(what, done, WHOLE);
  };
  const timer = setInterval(() => tell(connection.progress.percentage), POLL_EVERY_MS).unref();
  const begin = (next: Stretch) => {
    stretch = next;
  };
  return {
    readFrom: (before, bytes) => begin(ofReading(before, bytes)),
    writeFrom: (before, rows, allRows) => begin(ofWriting(before, rows, allRows)),
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
