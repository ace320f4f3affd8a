import type { DuckDBConnection } from '@duckdb/node-api';
import { counted } from '../../local/counted.ts';
import { findLosses } from './find-losses.ts';
import type { InputFile } from './input-files.ts';
import { LakeFault } from './lake-fault.ts';
import { type InputPlan, planInput } from './plan-input.ts';

/** How each file becomes records, as far as that can be told without reading it whole, and what stands against it. */
export function planAll(
  files: readonly InputFile[],
  options: Parameters<typeof planInput>[1],
): { readonly plans: readonly InputPlan[]; readonly faults: readonly string[] } {
  const planned = files.map((file) => planInput(file, options));
  return {
    plans: planned.filter((plan) => 'file' in plan),
    faults: planned.flatMap((plan) => ('file' in plan ? [] : plan)),
  };
}

/** Reads the files whole and lists every value that stands against their conversion. */
export async function lossesOf(connection: DuckDBConnection, plans: readonly InputPlan[]): Promise<string[]> {
  const losses: string[] = [];
  for (const plan of plans)
    losses.push(
      ...(await findLosses(connection, plan).catch((error: Error) => [
        `${plan.file.name}: it can't be read whole: ${error.message.split('\n', 1)[0]}`,
      ])),
    );
  return losses;
}

/** Which columns become NULL since files don't have them, in words. */
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

export const refusal = (faults: readonly string[]): LakeFault =>
  new LakeFault(
    `Nothing was written. ${faults.length === 1 ? 'One thing stands' : `${faults.length} things stand`} against it:\n  ${faults.join('\n  ')}`,
  );
