import type { Field, Report } from '../report/catalogue.ts';

/** The names of a report's fields that have the role, in the catalogue's order; without one, of all. */
export const fieldNames = ({ fields }: Report, role?: Field['role']): string[] =>
  Object.keys(fields).filter((name) => role === undefined || fields[name]?.role === role);

/** The fields as a Markdown table: name, role, type and meaning. */
export function fieldTable(report: Report): string {
  const rows = Object.entries(report.fields).map(
    ([name, field]) => `| ${name} | ${field.role} | ${field.type} | ${field.meaning}${levels(field)} |`,
  );
  return ['| field | role | type | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

const levels = (field: Field): string =>
  field.role === 'metric' && field.levels
    ? `: counted by ${field.levels.finer} where the report is grouped by ${field.levels.finer}, else by ${field.levels.coarser}`
    : '';
