import { type ColumnStore, valuesOf } from './column-store.ts';
import { NumberColumn } from './number-column.ts';
import type { Ratio } from './ratios.ts';

/**
 * The metric that a chart adds up, or the two metrics of a ratio. The sums are floating-point numbers, which is exact
 * enough for a chart.
 */
export interface Figure {
  readonly names: readonly string[];
  /** The figure for these sums, which are in the order of `names`; null if the denominator is zero. */
  valueOf(sums: readonly number[]): number | null;
  /** The number that ranks a series with these sums. */
  rankOf(sums: readonly number[]): number;
}

export const figureOf = (metric: string, ratio: Ratio | undefined): Figure =>
  ratio
    ? {
        names: [ratio.numerator, ratio.denominator],
        valueOf: ([above = 0, below = 0]) => (below === 0 ? null : (ratio.factor * above) / below),
        rankOf: ([, below = 0]) => below,
      }
    : { names: [metric], valueOf: ([sum = 0]) => sum, rankOf: ([sum = 0]) => sum };

/** The sums of a file's rows for each slot. A slot is one point or one total of the chart. */
export interface Sums {
  /** Whether the slot has at least one row. */
  has(slot: number): boolean;
  /** The sums of the slot, in the order of the figure's names. */
  of(slot: number): number[];
}

/** Adds up the rows for each slot. A row with slot -1 is left out. */
export function sumsBySlot(
  store: ColumnStore,
  names: readonly string[],
  slotCount: number,
  slotOf: (row: number) => number,
): Sums {
  const isThere = new Uint8Array(slotCount);
  for (let row = 0; row < store.rowCount; row++) {
    const slot = slotOf(row);
    if (slot !== -1) isThere[slot] = 1;
  }
  const columns = names.map((name) => sumsOfColumn(store, name, slotCount, slotOf));
  return {
    has: (slot) => isThere[slot] === 1,
    of: (slot) => columns.map((sums) => sums[slot] ?? 0),
  };
}

function sumsOfColumn(
  store: ColumnStore,
  name: string,
  slotCount: number,
  slotOf: (row: number) => number,
): Float64Array {
  const sums = new Float64Array(slotCount);
  const values = valuesOf(store, name);
  if (!(values instanceof NumberColumn)) return sums;
  for (let row = 0; row < store.rowCount; row++) {
    const slot = slotOf(row);
    const near = values.near(row);
    if (slot !== -1 && !Number.isNaN(near)) sums[slot] = (sums[slot] ?? 0) + near;
  }
  const unit = 10 ** values.places;
  return sums.map((sum) => sum / unit);
}
