/** Which instant is meant by a local time that occurs twice. */
export type Ambiguous = 'earlier' | 'later';

/** A change of a zone's clocks: its instant, and the offsets before and after it in milliseconds to the east of UTC. */
type ClockChange = Readonly<Record<'at' | 'before' | 'after', number>>;

/** A zone's clocks from 1970 to 2100. After 2100 the last offset stays. */
export interface ZoneClocks {
  readonly zone: string;
  readonly first: number;
  readonly changes: readonly ClockChange[];
}

const SECOND = 1_000;
/** No zone changes its clocks twice within this time. Morocco has the shortest time between changes: four weeks. */
const STEP = 7 * 24 * 3_600 * SECOND;
const END = Date.UTC(2100, 0, 1);

/** Finds a zone's clocks, which takes a tenth of a second. Throws a RangeError if the zone is unknown. */
export function zoneClocks(zone: string): ZoneClocks {
  const offsetAt = offsets(zone);
  const changes: ClockChange[] = [];
  for (let from = 0; from < END; from += STEP) {
    const before = offsetAt(from);
    const after = offsetAt(from + STEP);
    if (before === after) continue;
    let [low, high] = [from, from + STEP];
    while (high - low > SECOND) {
      const middle = low + Math.floor((high - low) / 2 / SECOND) * SECOND;
      if (offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    changes.push({ at: high, before, after });
  }
  return { zone, first: offsetAt(0), changes };
}

/** The zone, and the clock change that makes a local time occur never or twice. @param text the local time */
export function changeWords({ zone, changes }: ZoneClocks, text: string): string {
  const time = text.trim().replace(' ', 'T');
  const local = Date.parse(`${time.length === 10 ? `${time}T00:00` : time}Z`);
  const change = changes.find(
    ({ at, before, after }) => local >= at + Math.min(before, after) && local < at + Math.max(before, after),
  );
  if (!change) return zone;
  const { at, before, after } = change;
  return `${zone}, where clocks went ${after > before ? 'forward' : 'back'} from ${wallClock(at + before)} to ${wallClock(at + after)}`;
}

/**
 * SQL: the zone's offset at a local time, in seconds. NULL for a local time that does not exist. Without `ambiguous`,
 * also NULL for a local time that occurs twice.
 *
 * @param local SQL of type TIMESTAMP
 */
export function offsetOf(local: string, { first, changes }: ZoneClocks, ambiguous?: Ambiguous): string {
  const spans: Span[] = [{ from: Number.NEGATIVE_INFINITY, offset: first }];
  for (const { at, before, after } of changes) {
    const decided = ambiguous && (ambiguous === 'earlier' ? before : after);
    spans.push(
      { from: at + Math.min(before, after), offset: after > before ? undefined : decided },
      { from: at + Math.max(before, after), offset: after },
    );
  }
  return search(local, spans);
}

/**
 * The local times from `from` to the beginning of the next span. Without `offset`, they do not exist, or they occur
 * twice and nobody has said which instant is meant.
 */
type Span = Readonly<{ from: number; offset: number | undefined }>;

/** SQL for a binary search, so that a record passes about nine comparisons instead of five hundred. */
function search(local: string, spans: readonly Span[]): string {
  const middle = Math.floor(spans.length / 2);
  const [span] = spans;
  if (middle === 0) return span?.offset === undefined ? 'NULL' : String(span.offset / SECOND);
  const border = wallClock(spans[middle]?.from ?? 0);
  return `CASE WHEN ${local} < TIMESTAMP '${border}' THEN ${search(local, spans.slice(0, middle))} ELSE ${search(local, spans.slice(middle))} END`;
}

/** Writes a local time that is given as if it were UTC, such as `2026-03-29 02:00:00`. */
const wallClock = (local: number): string => new Date(local).toISOString().slice(0, 19).replace('T', ' ');

/** A function that gives the zone's offset at an instant. */
function offsets(zone: string): (at: number) => number {
  // Sweden writes local times in the form of ISO 8601.
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  return (at) => Date.parse(`${clock.format(at).replace(' ', 'T')}Z`) - at;
}
