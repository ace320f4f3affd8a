const LABEL = 'Making sample events, once: ';
const WIDEST = 40;
const NARROWEST = 5;

/** A line that says how many of the files are made, no wider than the terminal: a wider one would wrap at each step. */
export function progressLine(done: number, total: number, columns: number): string {
  const count = `${done}/${total}`;
  const room = columns - `${LABEL}[] ${count} `.length;
  if (room < NARROWEST) return `events: ${count}`.slice(0, Math.max(0, columns - 1));
  const width = Math.min(WIDEST, room);
  const filled = Math.round((done / total) * width);
  return `${LABEL}[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${count}`;
}
