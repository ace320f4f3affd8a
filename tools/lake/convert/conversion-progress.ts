import type { DuckDBConnection } from '@duckdb/node-api';
import type { OnProgress } from '../../../lib/terminal/progress.ts';
import type { InputFile } from '../input/input-files.ts';

/** Work of less than a second shows nothing. */
const POLL_EVERY_MS = 1_000;

/** So many parts has the whole: enough that it shows as a percentage. */
const WHOLE = 1_000_000;

/** The share of the time that goes into reading. Text takes three times as long to read as to write, Parquet half. */
const READING_SHARE = { text: 0.75, parquet: 0.35 };

/** From the share of a file that is read, and of a day that is written, to one number for the whole conversion. */
export interface ConversionProgress extends Disposable {
  /** Reading this file begins, with so many bytes read before it. */
  readFrom(bytesBefore: number, bytes: number): void;
  /** Writing a day begins, with so many of all rows written before it. */
  writeFrom(rowsBefore: number, rows: number, allRows: number): void;
  end(): void;
}

/** Where the whole stands: at `from` when a query began, at `to` when it ends. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** The stretches of the whole that files and days take. */
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

/** How far the whole is, where DuckDB says so many percent of the query; it says -1 where it doesn't know. */
export const wholeAt = ({ from, to }: Stretch, percentage: number): number =>
  Math.floor(WHOLE * (from + (to - from) * (Math.min(100, Math.max(0, percentage)) / 100)));

/** Asks DuckDB again and again how far its query is, until it is disposed of. */
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
    // A new query tells nothing at first.
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
      // What went wrong is said on a line of its own.
      if (done > 0 && done < WHOLE && process.stderr.isTTY) process.stderr.write('\n');
    },
  };
}
