import { describe, expect, it } from 'vitest';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import { columnFault, NOT_A_COLUMN, tablesOf } from '../../../lib/report/tables.ts';

describe('columnFault', () => {
  it.each([
    ['a ratio', 'clicks / served_ads'],
    ['a ratio without blanks', 'clicks/served_ads'],
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
