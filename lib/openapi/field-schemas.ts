import type { Field, Report } from '../report/catalogue.ts';
import { type Part, reference } from './schema.ts';

/** A report's title as a name in code: `PublisherPerformanceReport`. */
export const pascalCase = (title: string): string =>
  title.replaceAll(/(?:^|\s+)(\w)/g, (_, first: string) => first.toUpperCase());

/** The names of a report's fields that have the role, in the catalogue's order; without one, of all. */
export const fieldNames = ({ fields }: Report, role?: Field['role']): string[] =>
  Object.keys(fields).filter((name) => role === undefined || fields[name]?.role === role);

/** References to a report's own schemas. */
export const fieldReferences = (report: Report) => {
  const to = (part: string) => reference('schemas', pascalCase(report.title) + part);
  return { field: to('Field'), dimension: to('Dimension') };
};

/**
 * A report's schemas for `components`: what can be requested, and what can be grouped by. Each is one enumeration:
 * generators make no usable type of a choice between two.
 */
export const fieldSchemas = (report: Report): Part => ({
  [`${pascalCase(report.title)}Field`]: {
    type: 'string',
    enum: fieldNames(report),
    description: `What a report can hold. Rows are grouped by dimensions; metrics are added up for each row.\n\n${fieldTable(report)}`,
  },
  [`${pascalCase(report.title)}Dimension`]: {
    type: 'string',
    enum: fieldNames(report, 'dimension'),
    description: 'What rows can be grouped and filtered by.',
  },
});

function fieldTable(report: Report): string {
  const rows = Object.entries(report.fields).map(
    ([name, field]) => `| ${name} | ${field.role} | ${field.type} | ${field.meaning}${levels(field)} |`,
  );
  return ['| field | role | type | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

const levels = (field: Field): string =>
  field.role === 'metric' && field.levels
    ? `: counted by ${field.levels.finer} where the report is grouped by ${field.levels.finer}, else by ${field.levels.coarser}`
    : '';
