import type { Field, Report } from '../report/catalogue.ts';
import { filterSchema } from './filter-schema.ts';
import { type Part, reference } from './schema.ts';

/** A report's title as a name in code: `PublisherPerformanceReport`. */
export const pascalCase = (title: string): string =>
  title.replaceAll(/(?:^|\s+)(\w)/g, (_, first: string) => first.toUpperCase());

/** The names of a report's fields that have the role, in the catalogue's order. */
export const fieldNames = ({ fields }: Report, role: Field['role']): string[] =>
  Object.keys(fields).filter((name) => fields[name]?.role === role);

/** References to a report's own schemas. */
export const fieldReferences = (report: Report) => {
  const to = (part: string) => reference('schemas', pascalCase(report.title) + part);
  return { dimension: to('Dimension'), metric: to('Metric'), filter: to('Filter') };
};

/** A report's schemas for `components`: its dimensions, its metrics, and what can be filtered by. */
export const fieldSchemas = (report: Report): Part => ({
  [`${pascalCase(report.title)}Dimension`]: {
    type: 'string',
    enum: fieldNames(report, 'dimension'),
    description: `What rows can be grouped and filtered by.\n\n${fieldTable(report, 'dimension')}`,
  },
  [`${pascalCase(report.title)}Metric`]: {
    type: 'string',
    enum: fieldNames(report, 'metric'),
    description: `What is added up for each row.\n\n${fieldTable(report, 'metric')}`,
  },
  [`${pascalCase(report.title)}Filter`]: filterSchema(report),
});

function fieldTable(report: Report, role: Field['role']): string {
  const rows = fieldNames(report, role).map((name) => {
    const field = report.fields[name] as Field;
    return `| ${name} | ${field.type} | ${field.meaning}${levels(field)} |`;
  });
  return ['| field | type | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

const levels = (field: Field): string =>
  field.role === 'metric' && field.levels
    ? `: counted by ${field.levels.finer} where the report is grouped by ${field.levels.finer}, else by ${field.levels.coarser}`
    : '';
