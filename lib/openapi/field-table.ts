import type { Report } from '../report/catalogue.ts';

/** The fields as a Markdown table: name, role, type and meaning. */
export function fieldTable({ fields, levels }: Report): string {
  const countedBy =
    levels &&
    `: counted by ${levels.finer.name} where the report is grouped by ${levels.finer.name}, else by ${levels.coarser.name}`;
  const rows = fields.map(
    (field) =>
      `| ${field.name} | ${field.role} | ${field.type} | ${field.meaning}${levels?.metric === field ? countedBy : ''} |`,
  );
  return ['| field | role | type | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
