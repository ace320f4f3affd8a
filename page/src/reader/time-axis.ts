import { type ColumnStore, valuesOf } from './column-store.ts';
import { TextColumn } from './text-column.ts';

/** The times of a chart, and where a file's rows stand among them. */
export interface TimeAxis {
  /** In seconds since 1970, ascending; empty where the report has no time. */
  readonly times: readonly number[];
  /** How many points a series has. */
  readonly length: number;
  /** The place of a row of that file; -1 where its time is not known. */
  placesIn(store: ColumnStore): (row: number) => number;
}

/** The axis of some files with the same columns, whose dictionaries they share. */
export function timeAxisOf(stores: readonly ColumnStore[]): TimeAxis {
  const [first] = stores;
  const name = first && timeColumnOf(first);
  if (name === undefined) return { times: [], length: 1, placesIn: () => () => 0 };
  const columns = stores.flatMap((store) => {
    const values = valuesOf(store, name);
    return values instanceof TextColumn ? [{ store, values }] : [];
  });
  const texts = columns[0]?.values.dictionary.texts ?? [];
  const isThere = new Uint8Array(texts.length);
  for (const { store, values } of columns)
    for (let row = 0; row < store.rowCount; row++) isThere[values.code(row)] = 1;
  const instants = texts
    .flatMap((text, code) => (text !== null && isThere[code] === 1 ? [{ text, code }] : []))
    .sort((a, b) => (a.text < b.text ? -1 : 1));
  const places = new Int32Array(texts.length).fill(-1);
  for (const [place, { code }] of instants.entries()) places[code] = place;
  return {
    times: instants.map(({ text }) => Date.parse(text) / 1_000),
    length: instants.length,
    placesIn(store) {
      const values = columns.find((column) => column.store === store)?.values;
      return (row) => (values ? (places[values.code(row)] ?? -1) : -1);
    },
  };
}

/** Of hour and day, the hour says more. */
function timeColumnOf({ columns }: ColumnStore): string | undefined {
  const times = columns.filter(({ field }) => field.role === 'dimension' && field.type === 'datetime');
  const hour = times.find(({ field }) => 'grain' in field && field.grain === 'hour');
  return (hour ?? times[0])?.name;
}
