import { type ColumnStore, valuesOf } from './column-store.ts';
import { EXACT_BELOW, NumberColumn } from './number-column.ts';
import type { Ratio } from './ratios.ts';
import type { Cell } from './read-csv.ts';
import type { TextColumn } from './text-column.ts';

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

/** The different values of a column. Each value is a group, and each group has a number. */
interface ValueGroups {
  /** The number of different values, "not known" included. */
  readonly count: number;
  /** All group numbers are below this bound. Not every number below it is in use. */
  readonly size: number;
  groupOf(row: number): number;
  valueOf(group: number): Cell;
}

export const groupsOf = (values: NumberColumn | TextColumn, rowCount: number): ValueGroups =>
  values instanceof NumberColumn ? groupsOfNumbers(values, rowCount) : groupsOfTexts(values, rowCount);

function groupsOfTexts(column: TextColumn, rowCount: number): ValueGroups {
  const { texts } = column.dictionary;
  // The shared dictionary may also have values that only the other file of a comparison has.
  const isThere = new Uint8Array(texts.length);
  for (let row = 0; row < rowCount; row++) isThere[column.code(row)] = 1;
  return {
    count: isThere.reduce((count, one) => count + one, 0),
    size: texts.length,
    groupOf: (row) => column.code(row),
    valueOf: (group) => texts[group] ?? null,
  };
}

/** The group of a number is its place among the sorted numbers. A map with a million numbers would fill the memory. */
function groupsOfNumbers(column: NumberColumn, rowCount: number): ValueGroups {
  const nears = new Float64Array(rowCount);
  // Integers that a JavaScript number cannot hold exactly are few, so they have a map.
  const large = new Map<bigint, number>();
  let exactCount = 0;
  let hasNull = false;
  for (let row = 0; row < rowCount; row++) {
    const near = column.near(row);
    if (Math.abs(near) < EXACT_BELOW) nears[exactCount++] = near;
    else if (Number.isNaN(near)) hasNull = true;
    else large.set(column.exact(row) ?? 0n, 0);
  }
  const sorted = withoutRepeats(nears.subarray(0, exactCount).sort());
  const nullGroup = sorted.length;
  const largeValues = [...large.keys()];
  for (const [index, value] of largeValues.entries()) large.set(value, nullGroup + 1 + index);
  return {
    count: sorted.length + large.size + (hasNull ? 1 : 0),
    size: nullGroup + 1 + large.size,
    groupOf(row) {
      const near = column.near(row);
      if (Number.isNaN(near)) return nullGroup;
      return Math.abs(near) < EXACT_BELOW
        ? placeOf(near, sorted)
        : (large.get(column.exact(row) ?? 0n) ?? nullGroup);
    },
    valueOf(group) {
      if (group === nullGroup) return null;
      return String(group < nullGroup ? sorted[group] : largeValues[group - nullGroup - 1]);
    },
  };
}

/** Removes repeated values from sorted values, in the same memory. */
function withoutRepeats(sorted: Float64Array): Float64Array {
  let count = 0;
  for (const value of sorted) if (count === 0 || value !== sorted[count - 1]) sorted[count++] = value;
  return sorted.subarray(0, count);
}

function placeOf(value: number, sorted: Float64Array): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
