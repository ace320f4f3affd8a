import { parquetReader } from '../input/input-files.ts';
import type { InputPlan } from '../input/plan-input.ts';

/**
 * Files that one query reads together. Each query writes its own files for each day, so fewer queries make fewer files.
 * Many small files would cost memory when a day is read.
 */
export interface Batch {
  /** The plan by which one query reads all these files. */
  readonly plan: InputPlan;
  readonly plans: readonly InputPlan[];
  readonly bytes: number;
}

/** The most files that one query reads, because DuckDB keeps the footer of each file in memory. */
const MOST_FILES = 500;

/** Puts Parquet files with equal column types together. Every other file is a batch of its own. */
export function batchesOf(plans: readonly InputPlan[]): Batch[] {
  const alike = Map.groupBy(plans, ({ table, file }) =>
    file.parquet === undefined ? file : JSON.stringify([table.name, ...file.types]),
  );
  return [...alike.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / MOST_FILES) }, (_, nth) =>
      batchOf(group.slice(nth * MOST_FILES, (nth + 1) * MOST_FILES)),
    ),
  );
}

function batchOf(plans: readonly InputPlan[]): Batch {
  const [first] = plans as readonly [InputPlan];
  const paths = plans.flatMap(({ file }) => file.parquet ?? []);
  const file = paths.length > 1 ? { ...first.file, reader: parquetReader(paths) } : first.file;
  const bytes = plans.reduce((sum, plan) => sum + plan.file.bytes, 0);
  return { plan: { ...first, file }, plans, bytes };
}
