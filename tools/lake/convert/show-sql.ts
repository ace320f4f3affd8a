import { type InputPlan, selectOf } from '../input/plan-input.ts';
import type { Workspace } from '../workspace/open-duckdb.ts';
import type { Staged } from './stage.ts';
import { dayCopyOf } from './write-days.ts';

/** The SQL of a conversion, for use on another engine: the SELECT that reads a file, and the COPY that writes a day. */
export function sqlOf(
  workspace: Workspace,
  plans: readonly InputPlan[],
  staged: readonly Staged[],
  hourly: boolean,
): string {
  const alike = Map.groupBy(plans, ({ table, values }) =>
    [table.name, ...values.map(({ value }) => value)].join(),
  );
  const reading = [...alike.values()].flatMap(([plan, ...others]) => {
    if (!plan) return [];
    const { file, table } = plan;
    const more = others.length > 0 ? ` (${others.length} more files alike)` : '';
    return `-- ${file.name}${more} into ${table.name}\n${selectOf(plan)};\n`;
  });
  const writing = staged.flatMap((one) => {
    const [day] = one.days;
    if (!day) return [];
    const sql = dayCopyOf(workspace, one, day, hourly);
    return [`-- ${one.table.name}: each of ${one.days.length} days, as ${day.day}\n${sql};\n`];
  });
  return `${[...reading, ...writing].join('\n')}\n`;
}
