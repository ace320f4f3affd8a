import { shownCell } from '../format.ts';
import type { ColumnStore, StoredColumn } from './column-store.ts';
import type { JoinedRows } from './compare-rows.ts';
import { RATIO_PLACES } from './decimal.ts';
import { NumberColumn, type Numbers } from './number-column.ts';
import { PERCENT_PLACES, type Quotients, type Ratio, ratiosOf } from './ratios.ts';
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
function dimensionColumn(
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
function metricColumns(
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
const ratioColumn = ({ name, now: quotients }: Sides<Quotients>, now: SideRows): ValueColumn =>
  columnOfQuotients({ id: name, kind: 'ratio', of: name }, quotients, hasRow(now));

const hasRow =
  ({ rowOf }: SideRows) =>
  (row: number): boolean =>
    rowOf(row) !== -1;

/** The table that people see: the columns of the report, the columns of a comparison, and the ratios. */
export interface Table {
  readonly rowCount: number;
  readonly columns: readonly ValueColumn[];
  readonly dimensions: readonly DimensionColumn[];
  readonly metrics: readonly Sides<Numbers>[];
  readonly ratios: readonly Sides<Quotients>[];
  /** True if this is a comparison and the period before has no row at all. */
  readonly isBeforeEmpty: boolean;
}

/** The period before, and its rows joined with the rows of the report. */
interface Compared {
  readonly store: ColumnStore;
  readonly rows: JoinedRows;
}

/** The table of a report. Its columns are in the file's order; in a comparison all dimensions come first. */
export function tableOf(report: string, store: ColumnStore, compared?: Compared): Table {
  const now: SideRows = { store, rowOf: compared?.rows.nowRow ?? ((row) => row) };
  const before = compared && { store: compared.store, rowOf: compared.rows.beforeRow };
  const names = store.columns.map(({ name }) => name);
  const metrics = store.columns
    .filter(({ field }) => field.role === 'metric')
    .map(({ name }) => ({
      name,
      now: onSide(now, name),
      ...(before && { before: onSide(before, name) }),
    }));
  const ratios = ratiosOf(report, names).flatMap((ratio) => ratioSides(ratio, metrics));

  const dimensions = store.columns
    .filter(({ field }) => field.role === 'dimension')
    .map((column) => dimensionColumn(column, now, before));
  const columns = [...dimensions, ...metrics.flatMap((metric) => metricColumns(metric, now, before))];
  if (!before) columns.sort((a, b) => names.indexOf(a.shown.of) - names.indexOf(b.shown.of));
  return {
    rowCount: compared?.rows.rowCount ?? store.rowCount,
    columns: [...columns, ...ratios.map((ratio) => ratioColumn(ratio, now))],
    dimensions,
    metrics,
    ratios,
    isBeforeEmpty: compared?.store.rowCount === 0,
  };
}

function ratioSides(
  { name, numerator, denominator, factor }: Ratio,
  metrics: readonly Sides<Numbers>[],
): Sides<Quotients>[] {
  const dividend = metrics.find((metric) => metric.name === numerator);
  const divisor = metrics.find((metric) => metric.name === denominator);
  if (!dividend || !divisor) return [];
  const shown = { factor, places: RATIO_PLACES };
  const now = { dividend: dividend.now, divisor: divisor.now, ...shown };
  if (!dividend.before || !divisor.before) return [{ name, now }];
  return [{ name, now, before: { dividend: dividend.before, divisor: divisor.before, ...shown } }];
}
