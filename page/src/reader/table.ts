import type { ColumnStore } from './column-store.ts';
import type { JoinedRows } from './compare-rows.ts';
import { RATIO_PLACES } from './decimal.ts';
import type { Numbers } from './number-column.ts';
import type { Quotients } from './quotients.ts';
import { type Ratio, ratiosOf } from './ratios.ts';
import { onSide, type SideRows, type Sides } from './side-rows.ts';
import { dimensionColumn, metricColumns, ratioColumn } from './table-columns.ts';
import type { DimensionColumn, ValueColumn } from './value-column.ts';

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
