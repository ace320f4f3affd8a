import { sumsOver } from './number-column.ts';
import type { ShownCell, View, ViewResult } from './reader-messages.ts';
import { sortRows } from './sort-rows.ts';
import type { Table } from './table.ts';

/** The rows that a view shows, as row numbers in their order, and the totals over these rows. */
interface RowsInView {
  readonly rows: Uint32Array;
  readonly result: ViewResult;
}

export function viewOf(table: Table, view: View): RowsInView {
  const found = foundRows(table, view.search.toLowerCase());
  const by = table.columns.find(({ shown }) => shown.id === view.sort?.column);
  const sorted = by ? sortRows(found, by.ordering(), view.sort?.isDescending === true) : found;
  const rows = sorted.subarray(0, view.top);
  // If all found rows are in view, adds them up in file order, which reads memory sequentially.
  const sumOf = sumsOver(rows.length === found.length ? found : rows);
  const totals = table.columns.map((column) => column.total(sumOf));
  return { rows, result: { view, rowCount: rows.length, totals } };
}

/** The cells of some rows in view: from `from` up to, but not including, `to`. */
export const cellsOf = (table: Table, rows: Uint32Array, from: number, to: number): ShownCell[][] =>
  Array.from(rows.subarray(from, to), (row) => table.columns.map((column) => column.cell(row)));

export function allRows({ rowCount }: Table): Uint32Array {
  const rows = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) rows[row] = row;
  return rows;
}

/** The rows with at least one dimension that contains a text, in the table's order. */
function foundRows(table: Table, part: string): Uint32Array {
  const rows = allRows(table);
  if (part === '') return rows;
  const tests = table.dimensions.map((column) => column.holding(part));
  let count = 0;
  for (const row of rows) if (tests.some((isHolding) => isHolding(row))) rows[count++] = row;
  return rows.slice(0, count);
}
