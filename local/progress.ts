import { nextProgress, type Shown } from './next-progress.ts';

/** Told how far long work has come. `done` and `total` are of one unit: files, rows or bytes. */
export type OnProgress = (what: string, done: number, total: number) => void;

/** What progress is written to: `process.stdout` or `process.stderr`. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** The width where a terminal does not tell its own. */
const USUAL_COLUMNS = 80;

/** Shows how far long work has come: on a terminal a bar in place, elsewhere a line each ten seconds. */
export function showProgress(stream: ProgressStream, now: () => number = Date.now): OnProgress {
  let shown: Shown | undefined;
  return (what, done, total) => {
    const next = nextProgress(
      shown,
      { what, done, total },
      now(),
      stream.isTTY ? stream.columns || USUAL_COLUMNS : undefined,
    );
    shown = next.shown;
    if (next.text) stream.write(next.text);
  };
}
