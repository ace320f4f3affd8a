import {
  type ColumnStore,
  columnStore,
  columnsOf,
  storeBefore,
} from '../../../page/src/reader/column-store.ts';
import { joinRows } from '../../../page/src/reader/compare-rows.ts';
import type { Cell } from '../../../page/src/reader/read-csv.ts';
import type { ShownCell, View } from '../../../page/src/reader/reader-messages.ts';
import { type Table, tableOf } from '../../../page/src/reader/table.ts';
import { cellsOf, viewOf } from '../../../page/src/reader/table-view.ts';

export const PUBLISHER = 'publisherperformance';
export const ADVERTISER = 'advertiserperformance';

export const day = (date: number, month = 2): string => `2026-0${month}-0${date}T00:00:00Z`;

/** Rows in one text: `Phone d2 3; - d1 10`. `-` is a value that is not known, `\'\'` an empty text, `d2` a day of February. */
export const rowsOf = (text: string): (string | null)[][] =>
  text.split('; ').map((row) =>
    row.split(' ').map((cell) => {
      const [, date] = /^d(\d)$/.exec(cell) ?? [];
      if (date !== undefined) return day(Number(date));
      return cell === '-' ? null : cell.replace("''", '');
    }),
  );

/** Rows as texts, in the form of `rowsOf`. `~` is a cell of a row that only the other period has. */
export const textsOf = (rows: readonly (readonly ShownCell[])[]): string[] =>
  rows.map((row) =>
    row
      .map((cell) => (cell === undefined ? '~' : cell === null ? '-' : cell === '' ? "''" : cell))
      .map((cell) => cell.replace(/^2026-02-0(\d)T00:00:00Z$/, 'd$1'))
      .join(' '),
  );

/** Stores rows as the file of a report. */
export function stored(
  fields: string,
  rows: readonly (readonly Cell[])[],
  report: string = PUBLISHER,
): ColumnStore {
  const store = columnStore(columnsOf(report, fields.split(' ')));
  for (const row of rows) store.add(row);
  return store;
}

/** Stores rows as the file of the period before. The store shares the dictionaries of `now`. */
export function storedBefore(
  now: ColumnStore,
  rows: readonly (readonly Cell[])[],
  daysLater: Readonly<Record<string, string>> = {},
): ColumnStore {
  const store = storeBefore(now, new Map(Object.entries(daysLater)));
  for (const row of rows) store.add(row);
  return store;
}

/** The table of a report and, if it is given, the period before. */
export const tableFor = (now: ColumnStore, before?: ColumnStore, report: string = PUBLISHER): Table =>
  tableOf(report, now, before && { store: before, rows: joinRows(now, before) });

/** The cells of a view, row by row. */
export function rowsIn(table: Table, view: Partial<View> = {}): ShownCell[][] {
  const { rows } = viewOf(table, { search: '', ...view });
  return cellsOf(table, rows, 0, rows.length);
}

/** The cells of one column of a view. */
export function columnIn(table: Table, id: string, view: Partial<View> = {}): ShownCell[] {
  const index = table.columns.findIndex(({ shown }) => shown.id === id);
  return rowsIn(table, view).map((row) => row[index]);
}
