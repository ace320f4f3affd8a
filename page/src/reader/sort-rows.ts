/** An order of rows. */
export interface Ordering {
  /** Greater for a greater value; NaN where the row has none. */
  key(row: number): number;
  /** Decides between two rows of the same key, where keys round. */
  tie?(a: number, b: number): number;
}

/**
 * Sorts rows that come in ascending order. Those without a value are last either way, and those of the same value stay
 * as they were.
 */
export function sortRows(rows: Uint32Array, { key, tie }: Ordering, isDescending: boolean): Uint32Array {
  const keys = new Float64Array((rows.at(-1) ?? -1) + 1);
  const sorted = new Uint32Array(rows.length);
  let known = 0;
  for (const row of rows) {
    keys[row] = key(row);
    if (!Number.isNaN(keys[row])) sorted[known++] = row;
  }
  let end = known;
  for (const row of rows) if (Number.isNaN(keys[row])) sorted[end++] = row;
  const sign = isDescending ? -1 : 1;
  const keyOf = (row: number) => keys[row] ?? Number.NaN;
  sorted
    .subarray(0, known)
    .sort((a, b) => sign * (keyOf(a) - keyOf(b)) || (tie ? sign * tie(a, b) : 0) || a - b);
  return sorted;
}
