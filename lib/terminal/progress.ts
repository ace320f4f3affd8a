/** A callback for the progress of long work. `done` and `total` have the same unit: files, rows or bytes. */
export type OnProgress = (what: string, done: number, total: number) => void;

/** If a terminal does not report its width. */
const USUAL_COLUMNS = 80;
/** How often a log gets a line: often enough to show that the work goes on, and only six lines a minute. */
const LINE_EVERY_MS = 10_000;
const REDRAW_EVERY_MS = 100;

const CLEAR_LINE = '\r\u001b[K';

/**
 * A terminal gets one line that is redrawn in place. A log gets a line at once, then one every ten seconds, and one
 * when work ends that took at least ten seconds. Work that is done at its first report shows nothing.
 */
export function showProgress(
  stream: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown },
  now: () => number = Date.now,
): OnProgress {
  /** The work under way: when it was first reported, and how much was done then. */
  let work: { readonly what: string; readonly beganAt: number; readonly beganWith: number } | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;
  return (what, done, total) => {
    const nowMs = now();
    const write = (note: string, isLast = false) => {
      writtenAt = nowMs;
      const line = `${what}: ${amountOf(done, total)}${note}`;
      // One column stays free: a full line may wrap, and CLEAR_LINE clears only the last row.
      const widest = (stream.columns || USUAL_COLUMNS) - 1;
      const row = line.length > widest ? `${line.slice(0, Math.max(0, widest - 1))}…` : line;
      stream.write(stream.isTTY ? CLEAR_LINE + row + (isLast ? '\n' : '') : `${line}\n`);
    };
    const { beganAt, beganWith } = work?.what === what ? work : { beganAt: nowMs, beganWith: done };
    const tookMs = nowMs - beganAt;
    if (total > 0 && done >= total) {
      // Forgotten, so that later work of the same name is timed separately.
      work = undefined;
      if (tookMs >= LINE_EVERY_MS) write(`, took ${duration(tookMs)}`, true);
      else if (stream.isTTY) stream.write(CLEAR_LINE);
      return;
    }
    work = { what, beganAt, beganWith };
    if (total === 0 || nowMs - writtenAt < (stream.isTTY ? REDRAW_EVERY_MS : LINE_EVERY_MS)) return;
    // The estimate goes by the average speed until now. In the first two seconds it would be too rough.
    const isEstimated = tookMs >= 2_000 && done > beganWith;
    const leftMs = (tookMs / (done - beganWith)) * (total - done);
    write(isEstimated ? `, about ${duration(leftMs)} left` : '');
  };
}

/** How often `repeatedProgress` repeats the last step. `showProgress` decides how often a line is shown. */
const AGAIN_EVERY_MS = 1_000;

/** Repeats the last step every second. A first step (`done` is 0) is shown only then. */
export function repeatedProgress(tell: OnProgress): Disposable & { readonly onProgress: OnProgress } {
  let last: Parameters<OnProgress> | undefined;
  const timer = setInterval(() => last && tell(...last), AGAIN_EVERY_MS);
  return {
    onProgress(what, done, total) {
      last = done < total ? [what, done, total] : undefined;
      if (done > 0) tell(what, done, total);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** From this total on, progress is shown as a percentage. */
const MANY = 10_000;

const amountOf = (done: number, total: number): string =>
  total < MANY ? `${done}/${total}` : `${Math.floor((100 * done) / total)}%`;

/** `45 s`, `3 min`, `2 h 5 min` */
function duration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
