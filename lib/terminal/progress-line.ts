/** How far a piece of work has come. `done` and `total` have the same unit: files, rows or bytes. */
export interface Progress {
  readonly what: string;
  readonly done: number;
  readonly total: number;
}

const WIDEST = 40;
const NARROWEST = 5;

/**
 * A bar that is narrower than the terminal, so that its line does not wrap. Leaves out `note` if it does not fit, and
 * the bar itself if there is no room for a short one.
 */
export function progressBar({ what, done, total }: Progress, columns: number, note = ''): string {
  const amount = amountOf(done, total);
  const room = columns - `${what}: [] ${amount} `.length;
  if (room < NARROWEST) return `${what}: ${amount}`.slice(0, Math.max(0, columns - 1));
  const shown = room - note.length < NARROWEST ? '' : note;
  const width = Math.min(WIDEST, room - shown.length);
  const filled = Math.round((done / total) * width);
  return `${what}: [${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${amount}${shown}`;
}

/** A line of a log. */
export const progressLine = ({ what, done, total }: Progress, note = ''): string =>
  `${what}: ${amountOf(done, total)}${note}`;

/** From this total on, progress is shown as a percentage. */
const MANY = 10_000;

const amountOf = (done: number, total: number): string =>
  total < MANY ? `${done}/${total}` : `${Math.floor((100 * done) / total)}%`;

/** `45 s`, `3 min`, `2 h 5 min` */
export function duration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
