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
  const OF_CONTAINER = { 'filter[ContainerId]': ['1'] };
  const OF_DAYS = { 'filter[Day]': ['2026-01-06T00:00:00Z', '2026-01-05T00:00:00Z'] };
  const placedClicks = sum('CASE WHEN placement_id IS NOT NULL THEN clicks END', 'Clicks');

  // What the SQL does; the fields and filters of a request; what is selected, under which further condition, and what
  // stands behind that.
  it.each<[string, Report, string, Record<string, string[]>, string, string, string[]?]>([
    ['neither groups nor orders totals', publisherReport, 'Opens,Clicks', {}, `${opens}, ${clicks}`, ''],
    [
      'counts placement-level opens, without container records, if it is grouped by placement',
      ...([publisherReport, 'PlacementId,Opens', {}] as const),
      ...([placements, ' AND placement_id IS NOT NULL', byPlacement] as const),
    ],
    [
      'gets the filter’s condition, and no look-up of containers, if it is both grouped and filtered by placement',
      ...([publisherReport, 'PlacementId,Opens', BY_PLACEMENT] as const),
      ...([placements, ' AND placement_id IS NOT NULL AND placement_id IN (?, ?)', byPlacement] as const),
    ],
    [
      'counts container records for Opens, but for no other metric, if it is filtered by placement',
      ...([publisherReport, 'Opens,Clicks', BY_PLACEMENT] as const),
      ...([`${opens}, ${placedClicks}`, ` AND ${inContainers}`] as const),
    ],
    [
      'looks up no containers for a filter on placements if Opens is not requested',
      ...([publisherReport, 'Clicks', BY_PLACEMENT, clicks, ' AND placement_id IN (?, ?)'] as const),
    ],
    [
      'looks up no containers for a filter on another dimension',
      ...([publisherReport, 'Opens,Clicks', OF_CONTAINER] as const),
      ...([`${opens}, ${clicks}`, ' AND container_id IN (?)'] as const),
    ],
    [
      'looks up no containers in the advertiser report',
      ...([advertiserReport, 'Clicks', BY_PLACEMENT, clicks, ' AND placement_id IN (?, ?)'] as const),
    ],
    [
      'names the days of a filter in a fixed order, and does not read event_time',
      ...([publisherReport, 'Clicks', OF_DAYS, clicks, " AND day IN ('2026-01-05', '2026-01-06')"] as const),
    ],
  ])('%s', (_, report, fields, filters, selected, condition, end = [') AS report']) => {
    const names = fields.split(',').map((name) => `"${name}"`);
    const lines = [`SELECT ${names.join(', ')}`, `FROM (SELECT ${selected}`, `FROM ${report.table}`];
    expect(compile(report, fields, filters)).toBe([...lines, DAYS + condition, ...end].join('\n'));
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
