/** An order of rows. */
export interface Ordering {
  /** The sort key, which is greater for a greater value; NaN if the row has no value. */
  key(row: number): number;
  /** Compares two rows with the same key. Needed if keys are rounded. */
  tie?(a: number, b: number): number;
}

/**
 * Sorts rows by their keys. The row numbers in `rows` must ascend. Rows without a value are last in both directions.
 * Rows with the same value keep their order.
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
