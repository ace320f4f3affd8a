import { duration, type Progress, progressBar, progressLine } from './progress-line.ts';

/** How often a log gets a line: often enough to show that the work goes on, and only six lines a minute. */
const LINE_EVERY_MS = 10_000;

/** The bar on a terminal is redrawn at most ten times a second. */
const BAR_EVERY_MS = 100;

/** What has been shown until now. */
export interface Shown {
  /** The name of the work under way; empty if the work has ended. */
  readonly what: string;
  /** When the work was first reported. */
  readonly beganAt: number;
  /** How much was done when the work was first reported. */
  readonly beganWith: number;
  /** When something was last written; undefined if nothing has been written. */
  readonly writtenAt: number | undefined;
}

export interface NextProgress {
  readonly shown: Shown;
  /** The text to write now, with its control characters or its line end; empty if nothing is to be written. */
  readonly text: string;
}

const CLEAR_LINE = '\r\u001b[K';

/**
 * Decides what to write for this progress. A terminal with `columns` columns gets a bar that is redrawn in place. A log
 * (`columns` is undefined) gets its first line at once, then a line every ten seconds. It also gets a line when work
 * ends that took at least ten seconds. Work that is done at its first report shows nothing.
 */
export function nextProgress(
  before: Shown | undefined,
  progress: Progress,
  nowMs: number,
  columns?: number,
): NextProgress {
  const { what, done, total } = progress;
  const writtenAt = before?.writtenAt;
  const shown = before?.what === what ? before : { what, beganAt: nowMs, beganWith: done, writtenAt };
  const tookMs = nowMs - shown.beganAt;
  const isLong = tookMs >= LINE_EVERY_MS;
  const lineWith = (note: string) =>
    columns === undefined
      ? `${progressLine(progress, note)}\n`
      : `${CLEAR_LINE}${progressBar(progress, columns, note)}`;

  if (total > 0 && done >= total) {
    // The name is cleared, so that later work of the same name is timed separately.
    const ended = { ...shown, what: '' };
    if (!isLong) return { shown: ended, text: columns === undefined ? '' : CLEAR_LINE };
    const line = lineWith(`, took ${duration(tookMs)}`);
    return { shown: { ...ended, writtenAt: nowMs }, text: columns === undefined ? line : `${line}\n` };
  }
  const everyMs = columns === undefined ? LINE_EVERY_MS : BAR_EVERY_MS;
  if (total === 0 || (writtenAt !== undefined && nowMs - writtenAt < everyMs)) return { shown, text: '' };
  return { shown: { ...shown, writtenAt: nowMs }, text: lineWith(noteOf(shown, progress, tookMs)) };
}

/** A note of the estimated time left, at the average speed until now; empty in the first two seconds. */
function noteOf({ beganWith }: Shown, { done, total }: Progress, tookMs: number): string {
  if (tookMs < 2_000 || done <= beganWith) return '';
  return `, about ${duration((tookMs / (done - beganWith)) * (total - done))} left`;
}
