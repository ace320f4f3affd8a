import { describe, expect, it } from 'vitest';
import { TooManyCompanies } from '../../../lib/problems/problem.ts';
import { advertiserReport, publisherReport, type Report } from '../../../lib/report/catalogue.ts';
import { compileQuery } from '../../../lib/report/compile-query.ts';
import * as entitlements from '../../../lib/report/entitlement.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';
import { quoteName } from '../../../lib/report/quote-sql.ts';
import { formatUtcTime, patternOf, UTC_TIME_FORM } from '../../../lib/report/utc-time.ts';
import { parametersOf } from './parameters.ts';

const { entitlementTo, fitIntoQuery, LONGEST_COMPANIES, LONGEST_SQL, storedEntitlement } = entitlements;

const compile = (
  report: Report,
  fields: string,
  rest: Record<string, string[]> = {},
  entitlement: entitlements.Entitlement = 'every-company',
) => {
  const parameters = { ...parametersOf('2026-01-01/2026-02-01', fields), ...rest };
  return compileQuery(parseRequest(report, { parameters, accept: undefined }), entitlement);
};

describe('compileQuery', () => {
  it('groups by raw values, sums metrics, then formats and orders the grouped rows', () => {
    expect(compile(advertiserReport, 'Spend,Day,DateTime,DemandOrigin')).toEqual({
      sql: [
        `SELECT "Spend", "Day" || 'T00:00:00Z' AS "Day", replace(substr(CAST("DateTime" AS varchar), 1, 13), ' ', 'T') || ':00:00Z' AS "DateTime", "DemandOrigin"`,
        `FROM (SELECT coalesce(sum(spend), 0) AS "Spend", day AS "Day", date_trunc('hour', event_time) AS "DateTime", demand_origin AS "DemandOrigin"`,
        'FROM advertiser_events',
        "WHERE day BETWEEN '2026-01-01' AND '2026-01-31'",
        "GROUP BY day, date_trunc('hour', event_time), demand_origin",
        ') AS report',
        'ORDER BY "Day" NULLS LAST, "DateTime" NULLS LAST, "DemandOrigin" NULLS LAST',
      ].join('\n'),
      parameters: [],
    });
  });

  describe('with many companies', () => {
    /** So many ids of 18 digits that their text in SQL is the longest one that fits. */
    const ids = Array.from({ length: LONGEST_COMPANIES / 20 }, (_, index) => 10n ** 17n + BigInt(index));
    const entitlement = entitlementTo(ids) ?? 'every-company';
    const everyField = publisherReport.fields
      .map(({ name }) => name)
      .filter((name) => name !== 'PlacementId');
    // API Gateway takes 10,240 bytes: 260 different hours are more than that.
    const hours = Array.from({ length: 270 }, (_, hour) => formatUtcTime(Date.UTC(2026, 0, 1, hour)));
    const placements = Array.from({ length: 500 }, (_, index) => String(index));
    const window = parametersOf('2026-01-01T00:00:01Z/2026-01-31T23:59:59Z');
    const longest = { ...window, 'filter[PlacementId]': placements, 'filter[DateTime]': hours };

    it('makes SQL that Athena takes, if their ids fit, whatever the request is', () => {
      expect(fitIntoQuery(ids.map(String))).toBe(true);
      expect(fitIntoQuery([...ids, 1n].map(String))).toBe(false);
      const { sql } = compile(publisherReport, everyField.join(','), longest, entitlement);
      expect(sql.length).toBeLessThanOrEqual(LONGEST_SQL);
      expect(sql.length).toBeGreaterThan(2 * LONGEST_COMPANIES + 10_000);
    });

    it('throws TooManyCompanies if the SQL is longer than Athena takes, and only then', () => {
      const twice = entitlementTo([...ids, ...ids.map((id) => id + 10n ** 6n)]) ?? 'every-company';
      expect(compile(publisherReport, 'Day,Clicks', {}, twice).sql.length).toBeLessThan(LONGEST_SQL);
      for (const rest of [longest, { 'filter[PlacementId]': ['1'] }])
        expect(() => compile(publisherReport, 'Opens', rest, twice)).toThrow(TooManyCompanies);
    });
  });

  const FROM = "event_time >= TIMESTAMP '2026-01-01 10:30:00'";
  const TO = "event_time < TIMESTAMP '2026-01-03 00:00:01'";
  it.each([
    ['whole days', '01T00:00:00', '03T00:00:00', "BETWEEN '2026-01-01' AND '2026-01-02'"],
    ['a cut first day', '01T10:30:00', '03T00:00:00', `BETWEEN '2026-01-01' AND '2026-01-02' AND ${FROM}`],
    ['a cut last day', '01T00:00:00', '03T00:00:01', `BETWEEN '2026-01-01' AND '2026-01-03' AND ${TO}`],
  ])('reads event_time only if the window cuts a day: %s', (_, start, end, where) => {
    const window = { startInclusive: [`2026-01-${start}Z`], endExclusive: [`2026-01-${end}Z`] };
    expect(compile(publisherReport, 'Clicks', window).sql).toContain(`WHERE day ${where}\n`);
  });

  it.each([
    [`O'Brien" OR 1=1 --`, `'O''Brien" OR 1=1 --'`],
    [`\\'; DROP TABLE publisher_events; --`, `'\\''; DROP TABLE publisher_events; --'`],
    ['?', `'?'`],
    ['ʼ＇’', `'ʼ＇’'`],
  ])('keeps the text %j out of the SQL and quotes it as one literal', (value, parameter) => {
    const { sql, parameters } = compile(publisherReport, 'Clicks', { 'filter[DeviceOrProxy]': [value] });
    expect(sql).toBe(compile(publisherReport, 'Clicks', { 'filter[DeviceOrProxy]': ['phone'] }).sql);
    expect(parameters).toEqual([parameter]);
  });

  it('reads only the days that contain the hours of a filter', () => {
    const { sql } = compile(publisherReport, 'Clicks', {
      'filter[DateTime]': ['2026-01-05T03:00:00Z', '2026-01-05T04:00:00Z', '2026-01-07T04:00:00Z'],
    });
    expect(sql).toContain(
      "AND day IN ('2026-01-05', '2026-01-07') AND date_trunc('hour', event_time) IN (TIMESTAMP '2026-01-05 03:00:00', TIMESTAMP '2026-01-05 04:00:00', ",
    );
  });

  it('has one placeholder for each parameter', () => {
    const filters = { 'filter[PlacementId]': ['1', '2'], 'filter[DeviceOrProxy]': ['a'] };
    const { sql, parameters } = compile(publisherReport, 'Opens,Clicks', filters);
    expect(sql.split('?').length - 1).toBe(parameters.length);
    expect(parameters).toEqual(['1', '2', '1', '2', "'a'"]);
  });

  it('puts the caller’s companies into the SQL text, and also into its look-up of containers', () => {
    const filters = { 'filter[PlacementId]': ['1'], 'filter[PublisherCompanyId]': ['9'] };
    const { sql, parameters } = compile(publisherReport, 'Opens', filters, [-2n, 7n]);
    expect(sql.match(/ AND publisher_company_id IN \(-2, 7\) AND /g)).toHaveLength(2);
    expect(parameters).toEqual(['1', '1', '9']);
  });

  it('restricts the advertiser report only by the advertiser’s company', () => {
    const { sql } = compile(advertiserReport, 'Spend', {}, [7n]);
    expect(sql).toContain("'2026-01-31' AND advertiser_company_id IN (7)\n");
    expect(sql).not.toContain('publisher_company_id');
  });
});

const LARGEST = 9_223_372_036_854_775_807n;

it('entitlementTo gives each company once, in ascending order, and undefined if there is none', () => {
  expect(entitlementTo([10n, 9n, LARGEST, 10n, -1n])).toEqual([-1n, 9n, 10n, LARGEST]);
  expect(entitlementTo([])).toBeUndefined();
});

it('storedEntitlement writes ids of 64 bits as exact texts, and access to every company as a word', () => {
  expect(storedEntitlement([9n, LARGEST])).toEqual(['9', '9223372036854775807']);
  expect(storedEntitlement('every-company')).toBe('every-company');
});

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

  /** What the SQL does; the fields; the filters; what it selects; the condition beside that of the days; its end. */
  type Row = [string, string, Record<string, string[]>, string, string?, string[]?, Report?];
  const PLACED = ' AND placement_id IN (?, ?)';
  const isPlaced = ' AND placement_id IS NOT NULL';
  const containers = { 'filter[ContainerId]': ['1'] };
  const days = { 'filter[Day]': ['2026-01-06T00:00:00Z', '2026-01-05T00:00:00Z'] };
  const IN_CONTAINER = ' AND container_id IN (?)';
  const totals = [') AS report'];
  it.each<Row>([
    ['neither groups nor orders totals', 'Opens,Clicks', {}, `${opens}, ${clicks}`],
    ['by placement, counts its opens only', 'PlacementId,Opens', {}, placements, isPlaced, byPlacement],
    [
      'gets the filter’s condition, and no look-up of containers, if it is both grouped and filtered by placement',
      ...(['PlacementId,Opens', BY_PLACEMENT, placements, isPlaced + PLACED, byPlacement] as const),
    ],
    [
      'counts container records for Opens, but for no other metric, if it is filtered by placement',
      ...(['Opens,Clicks', BY_PLACEMENT, `${opens}, ${placedClicks}`, ` AND ${inContainers}`] as const),
    ],
    ['looks up no containers without Opens', 'Clicks', BY_PLACEMENT, clicks, PLACED],
    ['looks up none for another dimension', 'Opens,Clicks', containers, `${opens}, ${clicks}`, IN_CONTAINER],
    ['looks up none for advertisers', 'Clicks', BY_PLACEMENT, clicks, PLACED, totals, advertiserReport],
    ['orders the days of a filter', 'Clicks', days, clicks, " AND day IN ('2026-01-05', '2026-01-06')"],
  ])('%s', (...[, fields, filters, selects, where = '', end = totals, report = publisherReport]) => {
    const names = fields.split(',').map((name) => `"${name}"`);
    const lines = [`SELECT ${names.join(', ')}`, `FROM (SELECT ${selects}`, `FROM ${report.table}`];
    expect(compile(report, fields, filters).sql).toBe([...lines, DAYS + where, ...end].join('\n'));
  });
});

it('quoteName doubles a quote within a name', () => {
  expect(quoteName('a"b')).toBe('"a""b"');
});

it('patternOf has a digit for each letter of the time form except T and Z', () => {
  expect(patternOf(UTC_TIME_FORM)).toBe('^\\d\\d\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$');
});
