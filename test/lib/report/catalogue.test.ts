import { describe, expect, it } from 'vitest';
import { dimensionsOf, metricsOf, ownerOf, reports } from '../../../lib/report/catalogue.ts';
import { reportPath, routes } from '../../../lib/routes.ts';

describe.each(reports)('the catalogue of $name', (report) => {
  const { fields, levels } = report;

  it('has each name once, with only letters and digits: in a request, commas and brackets separate names', () => {
    const names = fields.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    for (const name of names) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/);
  });

  it('has only dimensions and metrics, each of a valid type', () => {
    const [dimensions, metrics] = [dimensionsOf(report), metricsOf(report)];
    expect(dimensions.length + metrics.length).toBe(fields.length);
    for (const { type } of dimensions) expect(['datetime', 'integer', 'string']).toContain(type);
    for (const { role, type } of metrics)
      expect([role, type]).toEqual(['metric', expect.stringMatching(/^(integer|float)$/)]);
  });

  it('has a title, and a name whose path belongs to no other route', () => {
    expect(report.name).toMatch(/^[a-z]+$/);
    expect(routes.filter(({ path }) => path === reportPath(report))).toEqual([
      { path: reportPath(report), functionName: report.name, report },
    ]);
    expect(report.title).toMatch(/^[A-Z]/);
  });

  it('has the field that identifies the rows’ owner, and the fields of its levels', () => {
    expect(fields).toContain(ownerOf(report));
    if (levels) expect(fields).toEqual(expect.arrayContaining([levels.metric, levels.finer, levels.coarser]));
  });

  it('shares its name and its table with no other report', () => {
    expect(reports.filter(({ name }) => name === report.name)).toEqual([report]);
    expect(reports.filter(({ table }) => table === report.table)).toEqual([report]);
  });
});
