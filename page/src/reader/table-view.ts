import { sumsOver } from './exact-sum.ts';
import type { ShownCell, View, ViewResult } from './reader-messages.ts';
import { sortRows } from './sort-rows.ts';
import type { Table } from './table.ts';

/** What a view shows: its rows in their order, by their numbers, and the totals over them. */
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

/** Some of the rows in view, materialised; `to` is not among them. */
export const cellsOf = (table: Table, rows: Uint32Array, from: number, to: number): ShownCell[][] =>
  Array.from(rows.subarray(from, to), (row) => table.columns.map((column) => column.cell(row)));

export function allRows({ rowCount }: Table): Uint32Array {
  const rows = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) rows[row] = row;
  return rows;
}

/** The rows that hold a text in any of their dimensions, in the table's order. */
function foundRows(table: Table, part: string): Uint32Array {
  const rows = allRows(table);
  if (part === '') return rows;
  const tests = table.dimensions.map((column) => column.holding(part));
  let count = 0;
  for (const row of rows) if (tests.some((isHolding) => isHolding(row))) rows[count++] = row;
  return rows.slice(0, count);
}
