import { type ColumnStore, valuesOf } from './column-store.ts';
import { EXACT_BELOW, NumberColumn, type Numbers } from './number-column.ts';
import type { ShownCell } from './reader-messages.ts';
import { TextColumn } from './text-column.ts';

/** A metric or ratio of the report and, in a comparison, the same metric or ratio of the period before. */
export interface Sides<Values> {
  readonly name: string;
  readonly now: Values;
  readonly before?: Values;
}

/** One file of a table, and where its rows are in the table. */
export interface SideRows {
  readonly store: ColumnStore;
  /** The file's row for a row of the table; -1 if the file has no such row. */
  rowOf(row: number): number;
}

/** The numbers of a column, by the row of the table. */
export function onSide({ store, rowOf }: SideRows, name: string): Numbers {
  const values = valuesOf(store, name);
  if (!(values instanceof NumberColumn)) throw new Error(`${name} has texts, not numbers.`);
  return {
    places: values.places,
    near: (row) => values.near(rowOf(row)),
    exact: (row) => values.exact(rowOf(row)),
  };
}

/** Returns a function that gives a column's cell for a row of the table; undefined if the file has no such row. */
export function cellsOnSide({ store, rowOf }: SideRows, name: string): (row: number) => ShownCell {
  const values = valuesOf(store, name);
  return (row) => {
    const own = rowOf(row);
    return own === -1 ? undefined : values.cell(own);
  };
}

/** Returns a function that gives the code of a column's text for a row of the table. */
export function codesOnSide({ store, rowOf }: SideRows, name: string): (row: number) => number {
  const values = valuesOf(store, name);
  if (!(values instanceof TextColumn)) throw new Error(`${name} has numbers, not texts.`);
  return (row) => values.code(rowOf(row));
}

/** Combines the numbers of two sides. A number comes from the first side if that has the row, else from the second. */
export const ofEither = (isFirst: (row: number) => boolean, first: Numbers, second: Numbers): Numbers => ({
  places: first.places,
  near: (row) => (isFirst(row) ? first : second).near(row),
  exact: (row) => (isFirst(row) ? first : second).exact(row),
});

/**
 * The difference `now` minus `before`. If a side does not have a row, its number counts as zero. If a side has the row
 * but no value in it, the difference has no value.
 */
export function differenceOf(
  now: Numbers,
  isNow: (row: number) => boolean,
  before: Numbers,
  isBefore: (row: number) => boolean,
): Numbers {
  const exact = (row: number) => {
    const one = isNow(row) ? now.exact(row) : 0n;
    const other = isBefore(row) ? before.exact(row) : 0n;
    return one === undefined || other === undefined ? undefined : one - other;
  };
  return {
    places: now.places,
    exact,
    near(row) {
      const one = isNow(row) ? now.near(row) : 0;
      const other = isBefore(row) ? before.near(row) : 0;
      const near = one - other;
      const largest = Math.max(Math.abs(one), Math.abs(other), Math.abs(near));
      return largest < EXACT_BELOW || Number.isNaN(near) ? near : Number(exact(row));
    },
  };
}
