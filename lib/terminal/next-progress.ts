import { duration, type Progress, progressBar, progressLine } from './progress-line.ts';

/** Ten seconds: often enough to see that it goes on, and six lines a minute in a log. */
const LINE_EVERY_MS = 10_000;

/** A terminal is redrawn at most ten times a second. */
const BAR_EVERY_MS = 100;

/** What has been shown until now. */
export interface Shown {
  /** The work under way, when it was first reported, and how much was done then. */
  readonly what: string;
  readonly beganAt: number;
  readonly beganWith: number;
  /** When something was last written; undefined before the first. */
  readonly writtenAt: number | undefined;
}

export interface NextProgress {
  readonly shown: Shown;
  /** What to write now, with its control characters or its line's end; empty where nothing is due. */
  readonly text: string;
}

const CLEAR_LINE = '\r\u001b[K';

/**
 * What to write for this progress. On a terminal with `columns` columns it is a bar that is redrawn in place. In a
 * log (`columns` is undefined) it is a line: the first at once, then one every ten seconds, and one at the end of
 * work that took ten seconds. Work that is done at its first report shows nothing.
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

/** The estimated time left, at the average speed so far. None in the first two seconds. */
function noteOf({ beganWith }: Shown, { done, total }: Progress, tookMs: number): string {
  if (tookMs < 2_000 || done <= beganWith) return '';
  return `, about ${duration((tookMs / (done - beganWith)) * (total - done))} left`;
}
