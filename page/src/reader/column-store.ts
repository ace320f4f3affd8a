import { type Field, fieldOf, reportOf } from '../../../lib/report/catalogue.ts';
import { FILE_AMOUNT_PLACES } from './decimal.ts';
import { NumberColumn } from './number-column.ts';
import type { Cell } from './read-csv.ts';
import { Dictionary, TextColumn } from './text-column.ts';

interface Column {
  readonly name: string;
  readonly field: Field;
}

/** A column of the file and its values. Texts and instants are stored as codes, other values as numbers. */
export type StoredColumn = Column & { readonly values: NumberColumn | TextColumn };

/** All rows of a file, in typed arrays. */
export interface ColumnStore {
  readonly columns: readonly StoredColumn[];
  readonly rowCount: number;
  /** Adds a row. Throws BrokenCsv if a column of numbers gets a text that is no number. */
  add(cells: readonly Cell[]): void;
}

export function columnsOf(report: string, fields: readonly string[]): Column[] {
  const asked = reportOf(report);
  return fields.flatMap((name) => {
    const field = asked && fieldOf(asked, name);
    return field ? [{ name, field }] : [];
  });
}

export const columnStore = (columns: readonly Column[]): ColumnStore =>
  storeOf(columns.map((column) => ({ ...column, values: emptyValues(column.field) })));

/**
 * A store for the period before. It shares the dictionaries of `now`. It moves each instant to the day of the report
 * that is compared with the instant's own day. It does not move the instants of a day that `daysLater` does not name.
 */
export const storeBefore = (now: ColumnStore, daysLater: ReadonlyMap<string, string>): ColumnStore =>
  storeOf(
    now.columns.map(({ name, field, values }) => ({
      name,
      field,
      values:
        values instanceof NumberColumn
          ? new NumberColumn(values.places)
          : field.type === 'datetime'
            ? new TextColumn(values.dictionary, (instant) => movedBy(instant, daysLater))
            : new TextColumn(values.dictionary),
    })),
  );

/** Returns the values of the column with this name. */
export function valuesOf(store: ColumnStore, name: string): StoredColumn['values'] {
  const column = store.columns.find((one) => one.name === name);
  if (!column) throw new Error(`There is no column ${name}.`);
  return column.values;
}

function emptyValues({ type }: Field): NumberColumn | TextColumn {
  if (type === 'integer') return new NumberColumn(0);
  return type === 'float' ? new NumberColumn(FILE_AMOUNT_PLACES) : new TextColumn(new Dictionary());
}

function storeOf(columns: readonly StoredColumn[]): ColumnStore {
  let rowCount = 0;
  return {
    columns,
    get rowCount() {
      return rowCount;
    },
    add(cells) {
      for (const [index, { values }] of columns.entries()) values.push(cells[index] ?? null);
      rowCount += 1;
    },
  };
}

function movedBy(instant: string, daysLater: ReadonlyMap<string, string>): string {
  const day = instant.slice(0, 10);
  return (daysLater.get(day) ?? day) + instant.slice(10);
}
