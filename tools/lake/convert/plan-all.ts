import type { DuckDBConnection } from '@duckdb/node-api';
import { counted } from '../../../lib/terminal/counted.ts';
import type { InputFile } from '../input/input-files.ts';
import { type InputPlan, planInput } from '../input/plan-input.ts';
import { type ReadInput, readInput } from '../input/read-input.ts';
import type { ColumnChange } from '../values/tell-changes.ts';

/** Plans how each file becomes records, without reading it whole, and lists the faults that prevent it. */
export function planAll(
  files: readonly InputFile[],
  options: Parameters<typeof planInput>[1],
): { readonly plans: readonly InputPlan[]; readonly faults: readonly string[] } {
  // Files with equal types share the SQL of one plan, because there may be thousands of them.
  const alike = new Map<string, InputPlan>();
  const planned = files.map((file) => {
    const types = JSON.stringify([...file.types]);
    const known = alike.get(types);
    if (known) return { ...known, file: { ...file, types: known.file.types } };
    const plan = planInput(file, options);
    if ('file' in plan) alike.set(types, plan);
    return plan;
  });
  return {
    plans: planned.filter((plan) => 'file' in plan),
    faults: planned.flatMap((plan) => ('file' in plan ? [] : plan)),
  };
}

/** Reads the files whole. Lists every value that can't be converted, and every change. */
export async function readAll(
  connection: DuckDBConnection,
  plans: readonly InputPlan[],
): Promise<Pick<ReadInput, 'losses' | 'changes'>> {
  const losses: string[] = [];
  const changes: ColumnChange[] = [];
  for (const plan of plans) {
    const read = await readInput(connection, plan).catch((error: Error) => ({
      losses: [`${plan.file.name}: it can't be read whole: ${error.message.split('\n', 1)[0]}`],
      changes: [],
    }));
    losses.push(...read.losses);
    changes.push(...read.changes);
  }
  return { losses, changes };
}

/** Describes which columns become NULL because files lack them. */
export const missingColumns = (plans: readonly InputPlan[]): string[] =>
  [...Map.groupBy(plans, ({ missing }) => missing.join(', '))]
    .filter(([columns]) => columns !== '')
    .map(([columns, { length }]) => {
      const files =
        length === plans.length
          ? length === 1
            ? 'the file'
            : `all ${length} files`
          : counted(length, 'file');
      return `NULL, since ${files} ${length === 1 ? 'has' : 'have'} no such column: ${columns}`;
    });
