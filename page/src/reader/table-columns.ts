import { shownCell } from '../format.ts';
import type { StoredColumn } from './column-store.ts';
import { NumberColumn, type Numbers } from './number-column.ts';
import { PERCENT_PLACES, type Quotients } from './quotients.ts';
import type { TableColumn } from './reader-messages.ts';
import {
  cellsOnSide,
  codesOnSide,
  differenceOf,
  ofEither,
  onSide,
  type SideRows,
  type Sides,
} from './side-rows.ts';
import {
  columnOfDifferences,
  columnOfIds,
  columnOfNumbers,
  columnOfQuotients,
  columnOfTexts,
  type DimensionColumn,
  type ValueColumn,
} from './value-column.ts';

/** The column of a dimension. For each row, the value comes from the file that has the row. */
export function dimensionColumn(
  { name, field, values }: StoredColumn,
  now: SideRows,
  before?: SideRows,
): DimensionColumn {
  const shown: TableColumn = { id: name, kind: 'dimension', of: name };
  const isNow = hasRow(now);
  if (values instanceof NumberColumn) {
    const cellNow = cellsOnSide(now, name);
    if (!before) return columnOfIds(shown, onSide(now, name), cellNow);
    const cellBefore = cellsOnSide(before, name);
    const numbers = ofEither(isNow, onSide(now, name), onSide(before, name));
    return columnOfIds(shown, numbers, (row) => (isNow(row) ? cellNow : cellBefore)(row));
  }
  const codeBefore = before && codesOnSide(before, name);
  const codeNow = codesOnSide(now, name);
  const column = columnOfTexts(
    shown,
    values.dictionary,
    (row) => (codeBefore && !isNow(row) ? codeBefore(row) : codeNow(row)),
    (text) => shownCell(text, field),
  );
  // The table shows a blank in place of the T of an instant, so the search text gets a blank in place of its T.
  return field.type === 'datetime'
    ? { ...column, holding: (part) => column.holding(part.replace(/(?<=\d)t(?=\d)/, ' ')) }
    : column;
}

/** The columns of a metric. In a comparison, also its value in the period before, its change, and its change in %. */
export function metricColumns(
  { name, now: numbers, before: numbersBefore }: Sides<Numbers>,
  now: SideRows,
  before?: SideRows,
): ValueColumn[] {
  const own = columnOfNumbers({ id: name, kind: 'metric', of: name }, numbers, cellsOnSide(now, name));
  if (!before || !numbersBefore) return [own];
  const change = differenceOf(numbers, hasRow(now), numbersBefore, hasRow(before));
  const percent = { dividend: change, divisor: numbersBefore, factor: 100, places: PERCENT_PLACES };
  return [
    own,
    columnOfNumbers(
      { id: `${name} before`, kind: 'before', of: name },
      numbersBefore,
      cellsOnSide(before, name),
    ),
    columnOfDifferences({ id: `${name} change`, kind: 'change', of: name }, change),
    // A row that only the period before has counts as zero now: a fall of 100 %.
    columnOfQuotients({ id: `${name} change %`, kind: 'percent', of: name }, percent, () => true),
  ];
}

/** The column of a ratio, for the report only and not for the period before. */
export const ratioColumn = ({ name, now: quotients }: Sides<Quotients>, now: SideRows): ValueColumn =>
  columnOfQuotients({ id: name, kind: 'ratio', of: name }, quotients, hasRow(now));

const hasRow =
  ({ rowOf }: SideRows) =>
  (row: number): boolean =>
    rowOf(row) !== -1;
