import { measureColumns } from '../../../lake-check/report-columns.ts';
import { similarName } from '../../../lake-check/rules/column-rules.ts';
import { reports } from '../../../lib/report/catalogue.ts';
import { tables } from '../../../lib/report/tables.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import type { InputFile } from './input-files.ts';
import { type InputPlan, type PlanOptions, planInput } from './plan-input.ts';

/** Plans how the files become records, without reading them whole, and lists the faults that prevent it. */
export function planFiles(
  files: readonly InputFile[],
  options: PlanOptions,
): { readonly plans: readonly InputPlan[]; readonly faults: readonly string[] } {
  // Files with equal columns share the SQL of one plan, because there may be thousands of them.
  const alike = Map.groupBy(files, ({ read, columns }) => JSON.stringify([read.call, columns]));
  const planned = [...alike.values()].map((group) => ({ group, plan: planInput(group, options) }));
  return {
    plans: planned.flatMap(({ plan }) => ('files' in plan ? plan : [])),
    faults: planned.flatMap(({ group, plan }) =>
      'files' in plan ? [] : group.flatMap(({ name }) => plan.map((fault) => `${name}: ${fault}`)),
    ),
  };
}

/**
 * The faults of metrics that no file has: reports would show 0. An operator who means that says `--without`.
 *
 * @param without the metrics' columns that the files may lack
 */
export const missingMetrics = (plans: readonly InputPlan[], without: readonly string[]): string[] =>
  [...Map.groupBy(plans, ({ table }) => table)].flatMap(([table, alike]) => {
    const report = reports[tables.indexOf(table)];
    const unread = [...new Set(alike.flatMap((plan) => plan.unread))];
    const [file, ...others] = alike.flatMap(({ files }) => files);
    const named = file && others.length === 0 ? file.name : table.name;
    return (report ? measureColumns(report) : [])
      .filter((name) => !without.includes(name) && alike.every(({ missing }) => missing.includes(name)))
      .map((name) => {
        const similar = similarName(name, unread);
        const rename = similar === undefined ? '' : `There is ${similar}: if that is it, name it ${name}. `;
        return `${named}: no column is ${name}, so that reports would show 0. ${rename}If it has none, say --without ${name}`;
      });
  });

/** Says which columns of the files were not read, and which columns of the contract became NULL. */
export function columnChanges(plans: readonly InputPlan[]): string[] {
  const unread = [...new Set(plans.flatMap((plan) => plan.unread))].map((name) => JSON.stringify(name));
  const all = plans.reduce((sum, { files }) => sum + files.length, 0);
  const lacking = Map.groupBy(plans, ({ missing }) => missing.join(', '));
  lacking.delete('');
  return [
    ...(unread.length > 0 ? [`not read, since the contract has no such column: ${unread.join(', ')}`] : []),
    ...[...lacking].map(([columns, alike]) => {
      const count = alike.reduce((sum, { files }) => sum + files.length, 0);
      const files = all === 1 ? 'the file' : `${count === all ? 'all ' : ''}${counted(count, 'file')}`;
      return `NULL, since ${files} ${count === 1 ? 'has' : 'have'} no such column: ${columns}`;
    }),
  ];
}
