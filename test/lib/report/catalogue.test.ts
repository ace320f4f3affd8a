import { describe, expect, it } from 'vitest';
import { ownerOf, publisherReport, reports } from '../../../lib/report/catalogue.ts';
import { columnFault, NOT_A_COLUMN, tablesOf } from '../../../lib/report/tables.ts';
import { reportPath, routes } from '../../../lib/routes.ts';

describe.each(reports)('the catalogue of $name', (report) => {
  const { fields, levels } = report;

  it('has each name once, with only letters and digits: in a request, commas and brackets separate names', () => {
    const names = fields.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    for (const name of names) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/);
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

describe('columnFault', () => {
  it.each([
    ['a ratio', 'clicks / served_ads'],
    ['a function', 'max(clicks)'],
    ['a number', '1'],
    ['a quoted name', '"clicks"'],
    ['a name with a capital letter, which Glue does not keep', 'servedAds'],
    ['an empty name', ''],
  ])('refuses %s', (_, column) => {
    expect(columnFault('publisher_events', ['day', 'clicks', column])).toBe(
      `lib/report/catalogue.ts, publisher_events, column "${column}": ${NOT_A_COLUMN}`,
    );
  });

  it.each(['order', 'current_user', 'values', 'filename', 'alter', 'current_path', 'inner', 'json_value'])(
    'refuses %s, which an engine reads as a word of its own language',
    (column) => {
      expect(columnFault('publisher_events', ['day', column])).toMatch(
        /column "\w+": Athena or DuckDB read this name/,
      );
    },
  );

  it.each(['day', 'event_time', 'clicks'])('refuses the column %s if it occurs twice', (column) => {
    expect(columnFault('publisher_events', ['day', 'event_time', 'clicks', column])).toMatch(
      /it is there twice/,
    );
  });
});

describe('tablesOf', () => {
  const withColumn = (column: string) => {
    const named = { name: 'CTR', column, meaning: 'clicks per served ad' };
    const ctr = { role: 'metric', type: 'float', ...named } as const;
    return [{ ...publisherReport, fields: [...publisherReport.fields, ctr] }];
  };

  it('refuses a metric whose column is an expression, the column of another metric, or a column that every table has', () => {
    expect(() => tablesOf(withColumn('clicks / served_ads'))).toThrow(NOT_A_COLUMN);
    expect(() => tablesOf(withColumn('clicks'))).toThrow('column "clicks": it is there twice');
    expect(() => tablesOf(withColumn('day'))).toThrow('column "day": it is there twice');
    expect(tablesOf(withColumn('viewed_ads'))[0]?.columns.at(-1)?.name).toBe('viewed_ads');
  });
});
