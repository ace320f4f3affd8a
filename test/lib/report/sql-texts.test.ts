import { describe, expect, it } from 'vitest';
import { advertiserReport, publisherReport, type Report } from '../../../lib/report/catalogue.ts';
import { compileQuery } from '../../../lib/report/compile-query.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';
import { quoteName } from '../../../lib/report/quote-sql.ts';
import { patternOf, UTC_TIME_FORM } from '../../../lib/report/utc-time.ts';

const compile = (report: Report, fields: string, filters: Record<string, string[]> = {}) => {
  const parameters = {
    requestedFields: [fields],
    startInclusive: ['2026-01-01T00:00:00Z'],
    endExclusive: ['2026-02-01T00:00:00Z'],
    'api-version': ['1.0'],
    ...filters,
  };
  return compileQuery(parseRequest(report, { parameters, accept: undefined }), 'every-company').sql;
};

const DAYS = "WHERE day BETWEEN '2026-01-01' AND '2026-01-31'";
const sum = (counted: string, name: string) => `CAST(coalesce(sum(${counted}), 0) AS bigint) AS "${name}"`;
const inContainers =
  '(placement_id IN (?, ?) OR (placement_id IS NULL AND container_id IN ' +
  "(SELECT container_id FROM publisher_events WHERE day BETWEEN '2026-01-01' AND '2026-01-31'" +
  ' AND placement_id IN (?, ?))))';
const BY_PLACEMENT = { 'filter[PlacementId]': ['1', '2'] };

describe('the SQL of a report', () => {
  const opens = sum('container_opens', 'Opens');
  const clicks = sum('clicks', 'Clicks');
  const placements = `placement_id AS "PlacementId", ${sum('placement_opens', 'Opens')}`;
  const byPlacement = ['GROUP BY placement_id', ') AS report', 'ORDER BY "PlacementId" NULLS LAST'];
  const placedClicks = sum('CASE WHEN placement_id IS NOT NULL THEN clicks END', 'Clicks');

  interface Row {
    readonly does: string;
    /** The publisher report, unless this is set. */
    readonly report?: Report;
    readonly fields: string;
    readonly filters?: Record<string, string[]>;
    readonly selects: string;
    /** The condition beside that of the days. */
    readonly where?: string;
    readonly end?: string[];
  }
  it.each<Row>([
    { does: 'neither groups nor orders totals', fields: 'Opens,Clicks', selects: `${opens}, ${clicks}` },
    {
      does: 'counts placement-level opens, without container records, if it is grouped by placement',
      fields: 'PlacementId,Opens',
      selects: placements,
      where: ' AND placement_id IS NOT NULL',
      end: byPlacement,
    },
    {
      does: 'gets the filter’s condition, and no look-up of containers, if it is both grouped and filtered by placement',
      fields: 'PlacementId,Opens',
      filters: BY_PLACEMENT,
      selects: placements,
      where: ' AND placement_id IS NOT NULL AND placement_id IN (?, ?)',
      end: byPlacement,
    },
    {
      does: 'counts container records for Opens, but for no other metric, if it is filtered by placement',
      fields: 'Opens,Clicks',
      filters: BY_PLACEMENT,
      selects: `${opens}, ${placedClicks}`,
      where: ` AND ${inContainers}`,
    },
    {
      does: 'looks up no containers for a filter on placements if Opens is not requested',
      fields: 'Clicks',
      filters: BY_PLACEMENT,
      selects: clicks,
      where: ' AND placement_id IN (?, ?)',
    },
    {
      does: 'looks up no containers for a filter on another dimension',
      fields: 'Opens,Clicks',
      filters: { 'filter[ContainerId]': ['1'] },
      selects: `${opens}, ${clicks}`,
      where: ' AND container_id IN (?)',
    },
    {
      does: 'looks up no containers in the advertiser report',
      report: advertiserReport,
      fields: 'Clicks',
      filters: BY_PLACEMENT,
      selects: clicks,
      where: ' AND placement_id IN (?, ?)',
    },
    {
      does: 'names the days of a filter in a fixed order, and does not read event_time',
      fields: 'Clicks',
      filters: { 'filter[Day]': ['2026-01-06T00:00:00Z', '2026-01-05T00:00:00Z'] },
      selects: clicks,
      where: " AND day IN ('2026-01-05', '2026-01-06')",
    },
  ])('$does', ({ report = publisherReport, fields, filters, selects, where = '', end = [') AS report'] }) => {
    const names = fields.split(',').map((name) => `"${name}"`);
    const lines = [`SELECT ${names.join(', ')}`, `FROM (SELECT ${selects}`, `FROM ${report.table}`];
    expect(compile(report, fields, filters)).toBe([...lines, DAYS + where, ...end].join('\n'));
  });
});

describe('quoteName', () => {
  it('doubles a quote within a name', () => {
    expect(quoteName('a"b')).toBe('"a""b"');
  });
});

describe('patternOf', () => {
  it('has a digit for each letter of the time form except T and Z', () => {
    expect(patternOf(UTC_TIME_FORM)).toBe('^\\d\\d\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$');
  });
});
