import type { TimeDimension } from '../../../lib/report/catalogue.ts';
import { MAX_WINDOW_DAYS } from '../../../lib/report/utc-time.ts';
import type { ChartAxis } from './chart-data.ts';
import { type ColumnStore, valuesOf } from './column-store.ts';
import { TextColumn } from './text-column.ts';

/** The largest number of times: the hours of the longest window. */
const MAX_TIMES = MAX_WINDOW_DAYS * 24;
const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;

/** The times of a chart, and the places of a file's rows among them. */
export interface TimeAxis {
  /**
   * Each hour or day from the earliest to the latest time of the rows, in seconds since 1970. If these are more than
   * MAX_TIMES, only the times of the rows. Empty if the report has no time.
   */
  readonly times: readonly number[];
  /** How many days have rows at each place, if the page adds up days. */
  readonly dayCounts?: readonly number[];
  /** The number of points in a series. */
  readonly length: number;
  /** Returns a function that finds the place of a row of `store`; -1 if the row's time is not known. */
  placesIn(store: ColumnStore): (row: number) => number;
}

/** The axes that a chart of this file can have. */
export function axesOf(store: ColumnStore): readonly ChartAxis[] {
  const time = timeColumnOf(store);
  if (!time) return [];
  return time.grain === 'hour' ? ['time', 'all', 'hours', 'weekdays'] : ['time', 'all', 'weekdays'];
}

/** The axes for which the page adds up days: the number of places, and the place of an instant. */
const CYCLES: Readonly<Partial<Record<ChartAxis, { length: number; placeOf: (instant: Date) => number }>>> = {
  hours: { length: 24, placeOf: (instant) => instant.getUTCHours() },
  weekdays: { length: 7, placeOf: (instant) => (instant.getUTCDay() + 6) % 7 },
};

/** The time axis of one file, or of both files of a comparison. Both files share the dictionaries of their columns. */
export function timeAxisOf(stores: readonly ColumnStore[], wanted: ChartAxis = 'time'): TimeAxis {
  const [first] = stores;
  const time = first && timeColumnOf(first);
  if (!time) return { times: [], length: 1, placesIn: () => () => 0 };
  const columns = stores.flatMap((store) => {
    const values = valuesOf(store, time.name);
    return values instanceof TextColumn ? [{ store, values }] : [];
  });
  const texts = columns[0]?.values.dictionary.texts ?? [];
  const isThere = new Uint8Array(texts.length);
  for (const { store, values } of columns)
    for (let row = 0; row < store.rowCount; row++) isThere[values.code(row)] = 1;
  const instants = texts.flatMap((text, code) =>
    text !== null && isThere[code] === 1 ? [{ time: Date.parse(text) / 1_000, code }] : [],
  );
  const cycle = CYCLES[wanted];
  const times = cycle
    ? Array.from({ length: cycle.length }, (_, place) => place)
    : withoutGaps(
        instants.map((instant) => instant.time).sort((a, b) => a - b),
        time.grain === 'hour' ? HOUR_SECONDS : DAY_SECONDS,
      );
  const placeOf = new Map(times.map((one, place) => [one, place]));
  const places = new Int32Array(texts.length).fill(-1);
  const days = times.map(() => new Set<number>());
  for (const { time: one, code } of instants) {
    const place = cycle ? cycle.placeOf(new Date(one * 1_000)) : (placeOf.get(one) ?? -1);
    places[code] = place;
    days[place]?.add(Math.floor(one / DAY_SECONDS));
  }
  return {
    times,
    ...(cycle && { dayCounts: days.map(({ size }) => size) }),
    length: times.length,
    placesIn(store) {
      const values = columns.find((column) => column.store === store)?.values;
      return (row) => (values ? (places[values.code(row)] ?? -1) : -1);
    },
  };
}

/**
 * Adds the hours or days that have no rows, so that the chart draws no line through them. Adds none if the times would
 * then be more than MAX_TIMES.
 */
function withoutGaps(times: readonly number[], step: number): readonly number[] {
  const [first = 0, last = first] = [times[0], times.at(-1)];
  const count = (last - first) / step + 1;
  if (times.length === 0 || count > MAX_TIMES) return times;
  return Array.from({ length: count }, (_, index) => first + index * step);
}

/** The time column of a report. If the report has hours and days, the column of hours. */
function timeColumnOf({ columns }: ColumnStore): TimeDimension | undefined {
  const times = columns.flatMap(({ field }) =>
    field.role === 'dimension' && field.type === 'datetime' ? [field] : [],
  );
  return times.find(({ grain }) => grain === 'hour') ?? times[0];
}
