import type { ColumnStore } from './column-store.ts';
import { EXACT_BELOW, NumberColumn } from './number-column.ts';

/** Rows of two files side by side: first the rows of the report, then the rows that only the period before has. */
export interface JoinedRows {
  readonly rowCount: number;
  /** The row of the report; -1 if the report has no row here. */
  nowRow(row: number): number;
  /** The row of the period before; -1 if that period has no row here. */
  beforeRow(row: number): number;
}

/** Joins two rows if all their dimensions are the same. Each row joins at most one other row, and no row is lost. */
export function joinRows(now: ColumnStore, before: ColumnStore): JoinedRows {
  const find = rowFinder(now, before);
  const joined = new Int32Array(now.rowCount).fill(-1);
  const alone: number[] = [];
  for (let row = 0; row < before.rowCount; row++) {
    const found = find(row);
    if (found === -1 || joined[found] !== -1) alone.push(row);
    else joined[found] = row;
  }
  const onlyBefore = Int32Array.from(alone);
  return {
    rowCount: joined.length + onlyBefore.length,
    nowRow: (row) => (row < joined.length ? row : -1),
    beforeRow: (row) => (row < joined.length ? joined[row] : onlyBefore[row - joined.length]) ?? -1,
  };
}

/**
 * Returns a function that takes a row of `before` and finds the row of `now` that has the same dimensions; -1 if there
 * is none. It uses a hash table in one array.
 */
function rowFinder(now: ColumnStore, before: ColumnStore): (row: number) => number {
  const dimensions = now.columns.flatMap(({ field, values }, index) => {
    const other = before.columns[index]?.values;
    return field.role === 'dimension' && other ? [dimensionPair(values, other)] : [];
  });
  // The table has at least twice as many slots as rows, so that runs of taken slots stay short.
  const mask = 2 ** Math.ceil(Math.log2(now.rowCount + 1) + 1) - 1;
  const slots = new Int32Array(mask + 1).fill(-1);
  for (let row = 0; row < now.rowCount; row++) {
    let slot = hashOf(dimensions, 'hashNow', row) & mask;
    while (slots[slot] !== -1) slot = (slot + 1) & mask;
    slots[slot] = row;
  }
  return (row) => {
    for (let slot = hashOf(dimensions, 'hashBefore', row) & mask; ; slot = (slot + 1) & mask) {
      const found = slots[slot] ?? -1;
      if (found === -1 || dimensions.every(({ isSame }) => isSame(found, row))) return found;
    }
  };
}

interface DimensionPair {
  hashNow(row: number): number;
  hashBefore(row: number): number;
  isSame(nowRow: number, beforeRow: number): boolean;
}

type Values = ColumnStore['columns'][number]['values'];

function dimensionPair(now: Values, before: Values): DimensionPair {
  if (now instanceof NumberColumn && before instanceof NumberColumn)
    return {
      hashNow: (row) => hashOfNumber(now.near(row)),
      hashBefore: (row) => hashOfNumber(before.near(row)),
      isSame(nowRow, beforeRow) {
        const near = now.near(nowRow);
        if (!Object.is(near, before.near(beforeRow))) return false;
        return Math.abs(near) < EXACT_BELOW || now.exact(nowRow) === before.exact(beforeRow);
      },
    };
  if (now instanceof NumberColumn || before instanceof NumberColumn)
    throw new Error('The files of a comparison have the same columns.');
  return {
    hashNow: (row) => now.code(row),
    hashBefore: (row) => before.code(row),
    isSame: (nowRow, beforeRow) => now.code(nowRow) === before.code(beforeRow),
  };
}

const hashOfNumber = (near: number): number => (near % 2 ** 32) ^ Math.floor(near / 2 ** 32);

/**
 * Mixes the hashes of the dimensions as FNV-1a mixes bytes. Then spreads the bits, like the last steps of MurmurHash3.
 */
function hashOf(dimensions: readonly DimensionPair[], side: 'hashNow' | 'hashBefore', row: number): number {
  let hash = 0x811c9dc5;
  for (const dimension of dimensions) hash = Math.imul(hash ^ dimension[side](row), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
