import { nextProgress, type Shown } from './next-progress.ts';

/** A callback for the progress of long work. `done` and `total` have the same unit: files, rows or bytes. */
export type OnProgress = (what: string, done: number, total: number) => void;

/** What progress is written to: `process.stdout` or `process.stderr`. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** The width if a terminal does not report its own width. */
const USUAL_COLUMNS = 80;

/** Shows the progress of long work: on a terminal as a bar, otherwise as a line every ten seconds. */
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

/** How often `repeatedProgress` repeats the last step. `nextProgress` decides how often a line is shown. */
const AGAIN_EVERY_MS = 1_000;

/**
 * Repeats the last step every second until it is disposed, so that a long step is not silent. A step whose `done` is 0
 * is shown only when it is repeated, so that short work shows nothing.
 */
export function repeatedProgress(tell: OnProgress): Disposable & { readonly onProgress: OnProgress } {
  let last: Parameters<OnProgress> | undefined;
  const timer = setInterval(() => last && tell(...last), AGAIN_EVERY_MS);
  return {
    onProgress(...step) {
      const [, done, total] = step;
      last = done < total ? step : undefined;
      if (done > 0) tell(...step);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
