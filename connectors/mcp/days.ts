/** The days of a window in words: which are open, late, without data, or other than before. */
import type { Day, Window } from './service.ts';

const DAY_MS = 86_400_000;
const MOST_RANGES = 12;

const dayAt = (time: number) => new Date(time).toISOString().slice(0, 10);

/** The days of a window that the service takes, `YYYY-MM-DD`. */
export function daysOf([start, end]: Window): string[] {
  const first = Math.floor(Date.parse(start) / DAY_MS);
  const length = Math.ceil(Date.parse(end) / DAY_MS) - first;
  return Array.from({ length }, (_, nth) => dayAt((first + nth) * DAY_MS));
}

/** Days as ranges. */
function ranges(days: readonly string[]): string {
  const isEdge = (step: number) => (day: string) => !days.includes(dayAt(Date.parse(day) + step * DAY_MS));
  const ends = days.filter(isEdge(1));
  const starts = days.filter(isEdge(-1));
  const words = starts.map((start, nth) => (start === ends[nth] ? start : `${start} to ${ends[nth]}`));
  const more = words.length > MOST_RANGES ? ` and others, ${days.length} days in all: see the tool days` : '';
  return words.slice(0, MOST_RANGES).join(', ') + more;
}

/** Which days have which state. Final days are not worth a word. A day is late after it was expected. */
export function statesOf(days: readonly string[], now: readonly Day[]): Record<string, string> {
  const states = Map.groupBy(days, (day) => {
    const { state = 'without data', expectedAt = '' } = { ...now.find((one) => one.day === day) };
    const isLate = state !== 'final' && Date.parse(expectedAt) < Date.now();
    return `${state.toUpperCase()}${isLate ? ' and LATE' : ''}`;
  });
  states.delete('FINAL');
  return Object.fromEntries([...states].map(([state, some]) => [`days ${state}`, ranges(some)]));
}

/** The days of a window that are other now than they were before. */
export function restated(window: Window, before: readonly Day[], now: readonly Day[]): string {
  const versionIn = (days: readonly Day[], day: string) => days.find((one) => one.day === day)?.version;
  return ranges(daysOf(window).filter((day) => versionIn(before, day) !== versionIn(now, day)));
}
