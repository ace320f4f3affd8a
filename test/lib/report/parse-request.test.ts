import { describe, expect, it } from 'vitest';
import { InvalidRequest, problemResponse } from '../../../lib/problems/problem.ts';
import {
  advertiserReport,
  dimensionsOf,
  type Field,
  fieldOf,
  publisherReport,
  type Report,
} from '../../../lib/report/catalogue.ts';
import { didYouMean, shortened } from '../../../lib/report/did-you-mean.ts';
import { parseDaysRequest, parseRequest } from '../../../lib/report/parse-request.ts';
import { formatUtcTime, MAX_WINDOW_DAYS } from '../../../lib/report/utc-time.ts';
import { parametersOf } from './parameters.ts';

const DAY_MS = 86_400_000;
/** The end of the longest window that begins with 2026. */
const longest = formatUtcTime(Date.UTC(2026, 0, 1) + MAX_WINDOW_DAYS * DAY_MS);

const good = parametersOf('2026-01-01/2026-02-01', 'Day,Clicks');
type Parameters = Record<string, string[] | undefined>;

const parse = (changes: Parameters, accept?: string, report: Report = publisherReport) => {
  const parameters = Object.fromEntries(
    Object.entries({ ...good, ...changes }).filter(([, values]) => values !== undefined),
  );
  return parseRequest(report, { parameters, accept });
};

const refusalBy = (act: () => unknown): InvalidRequest => {
  try {
    act();
  } catch (error) {
    if (error instanceof InvalidRequest) return error;
    throw error;
  }
  throw new Error('the request was taken');
};
const refusalOf = (...request: [Parameters, string?, Report?]) => refusalBy(() => parse(...request));
const faultsOf = (...request: [Parameters, string?, Report?]) => refusalOf(...request).faults;

const MISSING = 'Missing: this parameter is required.';
const named = (name: string) => fieldOf(publisherReport, name);

describe('parseRequest', () => {
  it('reads fields in requested order, the window in milliseconds and no filters', () => {
    const requestedFields = ['Clicks', 'Day', 'Opens'].map(named);
    const window = { start: Date.UTC(2026, 0, 1), end: Date.UTC(2026, 1, 1) };
    const request = { report: publisherReport, requestedFields, window, filters: [] };
    expect(parse({ requestedFields: ['Clicks,Day,Opens'] })).toEqual(request);
  });

  it('types filter values by their field, takes each value once, and orders filters as the catalogue does', () => {
    const day = '2026-01-02T00:00:00Z';
    const hours = { 'filter[Day]': [day, day], 'filter[DateTime]': ['2026-01-02T03:00:00Z'] };
    const ids = { 'filter[PlacementId]': ['007', '-9223372036854775808', '7'] };
    const { filters } = parse({ 'filter[DeviceOrProxy]': ['phone', 'desktop', 'phone'], ...ids, ...hours });
    expect(filters).toEqual([
      { kind: 'time', dimension: named('DateTime'), values: [Date.UTC(2026, 0, 2, 3)] },
      { kind: 'time', dimension: named('Day'), values: [Date.UTC(2026, 0, 2)] },
      { kind: 'column', dimension: named('PlacementId'), values: [-9223372036854775808n, 7n] },
      { kind: 'column', dimension: named('DeviceOrProxy'), values: ['desktop', 'phone'] },
    ]);
  });

  it.each<[string, Parameters]>([
    ['groupBy in any order', { requestedFields: ['Day,Clicks,ContainerId'], groupBy: ['ContainerId,Day'] }],
    ['only metrics', { requestedFields: ['Clicks'] }],
    ['only dimensions', { requestedFields: ['Day'] }],
    ['the longest window', { endExclusive: [longest] }],
    ['29 February', { startInclusive: ['2028-02-29T00:00:00Z'], endExclusive: ['2028-02-29T12:00:00Z'] }],
    ['a filter on a text of 256 emoji', { 'filter[DeviceOrProxy]': ['🦊'.repeat(256)] }],
  ])('accepts %s', (_, changes) => {
    expect(() => parse(changes)).not.toThrow();
  });

  const accepted = ['*/*', 'text/*', 'text/csv', 'TEXT/CSV', 'text/csv; charset=utf-8'];
  const among = ['text/csv, text/csv; charset=utf-8; q=0', 'application/json, text/csv;q=0.1'];
  it.each([undefined, ...accepted, ...among])('accepts the Accept header %s', (accept) => {
    expect(() => parse({}, accept)).not.toThrow();
  });

  it.each(['application/json', 'text/csv;q=0', 'text/plain', 'nonsense'])(
    'refuses the Accept header %s',
    (accept) => {
      const detail = 'The report is text/csv. Send Accept: text/csv, or none.';
      expect(faultsOf({}, accept)).toEqual([{ parameter: 'Accept', detail }]);
    },
  );

  const namesOf = (fields: readonly Field[]) => fields.map(({ name }) => name).join(', ');
  const dimensions = namesOf(dimensionsOf(publisherReport));
  const NO_FILTER = 'Unknown parameter. A filter has the form filter[FieldName]=value.';
  const LIST_OF_FILTERS =
    'Write filter[DeviceOrProxy]. For several values, repeat it: filter[DeviceOrProxy]=…&filter[DeviceOrProxy]=…';
  const UNKNOWN =
    'Unknown parameter. Known are: requestedFields, startInclusive, endExclusive, groupBy, api-version, filter[FieldName].';
  const CONTROLS = 'The value contains control characters.';
  const noTime = (value: string) => `"${value}" is not a date and time of the form YYYY-MM-DDThh:mm:ssZ.`;
  const noDate = (value: string) => `"${value}" does not exist.`;
  const noInteger = (value: string) => `"${value}" is not an integer in decimal digits.`;
  const elsewhere = (name: string) => `Unknown field "${name}". The report advertiserperformance has it.`;
  const noMetric = `"Clicks" is a metric. Only dimensions can stand here: ${dimensions}.`;
  const NO_MIDNIGHT = 'The value must be a midnight, YYYY-MM-DDT00:00:00Z, or no record could match.';
  const NO_HOUR = 'The value must be a whole hour, YYYY-MM-DDThh:00:00Z, or no record could match.';
  const REPEAT = 'For several values, repeat the parameter once a value.';
  const once = (name: string) =>
    `Write ${name}, once, its names separated by commas: ${name}=FieldName,FieldName`;
  const known = `Unknown field "__proto__". Known are: ${namesOf(publisherReport.fields)}.`;
  const notGrouped =
    '"ContainerId" is a requested dimension: add it here or leave it out of requestedFields.';
  // What is wrong, its detail, and the parameter that is named if it is not the one that was changed.
  it.each<[Parameters, string, string?]>([
    [{ requestedFields: undefined }, MISSING],
    [{ endExclusive: undefined }, MISSING],
    [{ 'api-version': undefined }, MISSING],
    [{ 'api-version': ['1'] }, '"1" is not supported. Supported: 1.0.'],
    [{ 'api-version': ['1.0', '1.0'] }, 'Given 2 times: give it once.'],
    [{ requestedFields: [''] }, 'Entry 1 of the list is empty.'],
    [{ requestedFields: ['Day,'] }, 'Entry 2 of the list is empty.'],
    [{ requestedFields: ['Day,Day'] }, '"Day" is listed more than once.'],
    [{ requestedFields: ['Day,Click'] }, 'Unknown field "Click". Did you mean "Clicks"?'],
    [{ requestedFields: ['Day, Clicks'] }, 'Unknown field " Clicks". Did you mean "Clicks"?'],
    [{ requestedFields: ['__proto__'] }, known],
    [{ groupBy: ['Day,Clicks'] }, noMetric],
    [{ groupBy: ['Day,ContainerId'] }, '"ContainerId" must also be in requestedFields.'],
    [{ requestedFields: ['Day,ContainerId'], groupBy: ['Day'] }, notGrouped, 'groupBy'],
    // Fields of the other report.
    [{ requestedFields: ['Day,Spend'] }, elsewhere('Spend')],
    [{ requestedFields: ['Day,spend'] }, elsewhere('spend')],
    [{ groupBy: ['Day,CampaignId'] }, elsewhere('CampaignId')],
    [{ 'filter[CampaignId]': ['1'] }, elsewhere('CampaignId')],
    [{ 'filter[Spend]': ['1'] }, elsewhere('Spend')],
    [{ 'filter[Day]': ['2026-02-31T00:00:00Z'] }, noDate('2026-02-31T00:00:00Z')],
    [{ startInclusive: ['2026-01-01'] }, noTime('2026-01-01')],
    [{ startInclusive: ['2026-01-01T00:00:00+01:00'] }, noTime('2026-01-01T00:00:00+01:00')],
    [{ endExclusive: ['+010000-01-01T00:00Z'] }, noTime('+010000-01-01T00:00Z')],
    [{ startInclusive: ['2026-02-30T00:00:00Z'] }, noDate('2026-02-30T00:00:00Z')],
    [{ endExclusive: ['2026-01-01T24:00:00Z'] }, noDate('2026-01-01T24:00:00Z')],
    [{ endExclusive: ['2026-01-01T00:00:00Z'] }, 'Must be later than startInclusive.'],
    [
      { endExclusive: [longest.replace('00Z', '01Z')] },
      `The window is longer than ${MAX_WINDOW_DAYS} days. Send 2 requests: the first ends at ${longest}, and each next one begins where the one before it ends.`,
    ],
    [{ 'filter[Clicks]': ['1'] }, noMetric],
    [{ 'filter[Placement]': ['1'] }, 'Unknown field "Placement". Did you mean "PlacementId"?'],
    [{ 'filter[]': ['1'] }, NO_FILTER],
    [{ 'filter[DeviceOrProxy][]': ['a'] }, LIST_OF_FILTERS],
    [{ 'filter[PlacementId][gt]': ['1'] }, NO_FILTER],
    [{ 'filter[DeviceOrProxy][0]x': ['a'] }, NO_FILTER],
    [{ 'xfilter[DeviceOrProxy]': ['a'] }, UNKNOWN],
    [
      { requestedFields: undefined, 'requestedFields[]': ['Day', 'Clicks'] },
      once('requestedFields'),
      'requestedFields[]',
    ],
    [{ 'groupBy[0]': ['Day'] }, once('groupBy')],
    [{ requestedFields: ['Day', 'Clicks'] }, 'Given 2 times: give it once, its names separated by commas.'],
    [{ 'filter[PlacementId]': ['1,2'] }, `${noInteger('1,2')} ${REPEAT}`],
    [{ 'filter[Day]': ['2026-01-01T00:00:00Z,2026-01-02T00:00:00Z'] }, `${NO_MIDNIGHT} ${REPEAT}`],
    [{ 'filter[DeviceOrProxy]': ['a\ufffd'] }, 'The value is not UTF-8. Percent-encode its UTF-8 bytes.'],
    [
      { [`filter[${'x'.repeat(5_000)}][]`]: ['1'] },
      `Write ${`filter[${'x'.repeat(5_000)}]`.slice(0, 100)}…. For several values, repeat it: ${`filter[${'x'.repeat(93)}…=…&`.repeat(2).slice(0, -1)}`,
      `${`filter[${'x'.repeat(5_000)}][]`.slice(0, 100)}…`,
    ],
    [{ 'filter[PlacementId]': ['+1'] }, noInteger('+1')],
    [{ 'filter[PlacementId]': ['١'] }, noInteger('١')],
    [{ 'filter[PlacementId]': ['9223372036854775808'] }, 'The integer does not fit into 64 bits.'],
    [{ 'filter[DeviceOrProxy]': [''] }, 'The value is empty.'],
    [{ 'filter[DeviceOrProxy]': ['x'.repeat(257)] }, 'At most 256 characters.'],
    [{ 'filter[DeviceOrProxy]': ['a\nb'] }, CONTROLS],
    [{ 'filter[Day]': ['2026-01-01T01:00:00Z'] }, NO_MIDNIGHT],
    [{ 'filter[DateTime]': ['2026-01-01T01:30:00Z'] }, NO_HOUR],
    [{ groupby: ['Day'] }, 'Unknown parameter. Did you mean "groupBy"?'],
    [{ xyzzy: ['1'] }, UNKNOWN],
  ])('refuses %o: %s', (changes, detail, parameter = Object.keys(changes)[0]) => {
    expect(faultsOf(changes)).toEqual([{ parameter, detail }]);
  });

  it.each(['limit', 'page', 'offset', 'cursor', 'pageSize'])('refuses %s: the answer is whole', (name) => {
    const detail = 'Unknown parameter. There are no pages: the answer is one, and whole. Leave it out.';
    expect(faultsOf({ [name]: ['1'] })).toEqual([{ parameter: name, detail }]);
  });

  const namedIn = (...request: [Parameters, string?, Report?]) =>
    faultsOf(...request).map(({ parameter }) => parameter);

  it('checks requestedFields even if the request has requestedFields[] too', () => {
    const changes = { requestedFields: ['Day,Click'], 'requestedFields[]': ['Day'] };
    expect(namedIn(changes)).toEqual(['requestedFields', 'requestedFields[]']);
  });

  it('accepts only the fields of the requested report', () => {
    expect(namedIn({ requestedFields: ['Opens'] }, undefined, advertiserReport)).toEqual(['requestedFields']);
  });

  it('lists 25 faults and counts the rest, so that no request makes an answer larger than 32 kB', () => {
    const worst = [
      { requestedFields: [Array.from({ length: 4_000 }, () => 'x').join(',')] },
      { requestedFields: [Array.from({ length: 40 }, () => '"'.repeat(100)).join(',')] },
      Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`p${index}`, ['1']])),
      { 'filter[PlacementId]': Array.from({ length: 500 }, () => 'x') },
    ];
    for (const changes of worst) {
      const response = problemResponse(refusalOf(changes), 'id');
      const { errors, errorsLeftOut } = JSON.parse(response.body);
      expect(errors).toHaveLength(25);
      expect(errorsLeftOut).toBeGreaterThan(0);
      expect(Buffer.byteLength(response.body)).toBeLessThan(32_000);
    }
  });

  it('names every fault at once', () => {
    const changes = {
      ...{ 'api-version': ['2.0'], 'filter[PlacementId]': ['x'], order: ['Day'] },
      ...{ startInclusive: undefined, requestedFields: ['Day,Click'] },
    };
    const names = [
      'requestedFields',
      'startInclusive',
      'filter[PlacementId]',
      'order',
      'api-version',
      'Accept',
    ];
    expect(namedIn(changes, 'application/json')).toEqual(names);
  });
});

describe('parseDaysRequest', () => {
  const { requestedFields: _, ...window } = good;
  const parseDays = (changes: Parameters = {}) => parseDaysRequest({ ...window, ...changes });
  const faultsIn = (changes: Parameters) => refusalBy(() => parseDays(changes)).faults;

  it('reads the window', () => {
    expect(parseDays()).toEqual({ start: Date.UTC(2026, 0, 1), end: Date.UTC(2026, 1, 1) });
  });

  it.each([
    ['one second', '2026-01-01T00:00:01Z'],
    ['400 days', '2027-02-05T00:00:00Z'],
  ])('accepts a window of %s', (_, end) => {
    expect(() => parseDays({ endExclusive: [end] })).not.toThrow();
  });

  it.each<[Parameters, string]>([
    [{ 'api-version': ['2.0'] }, '"2.0" is not supported. Supported: 1.0.'],
    [{ endExclusive: ['2026-01-01T00:00:00Z'] }, 'Must be later than startInclusive.'],
    [
      { endExclusive: ['2027-02-05T00:00:01Z'] },
      'The window is longer than 400 days. Send 2 requests: the first ends at 2027-02-05T00:00:00Z, and each next one begins where the one before it ends.',
    ],
    [{ groupBy: ['Day'] }, 'Unknown parameter. Known are: startInclusive, endExclusive, api-version.'],
    [{ startinclusiv: ['x'] }, 'Unknown parameter. Did you mean "startInclusive"?'],
  ])('refuses %o: %s', (changes, detail) => {
    expect(faultsIn(changes)).toEqual([{ parameter: Object.keys(changes)[0], detail }]);
  });

  it('names every fault at once', () => {
    const changes = { a: ['x'], 'api-version': undefined, endExclusive: ['x'], startInclusive: undefined };
    const names = ['startInclusive', 'endExclusive', 'api-version', 'a'];
    expect(faultsIn(changes).map(({ parameter }) => parameter)).toEqual(names);
  });
});

describe('didYouMean', () => {
  const names = ['Day', 'PlacementIds'];
  const all = 'Known are: Day, PlacementIds.';
  it.each([
    ['a short name with two wrong letters', 'Dxx', 'Did you mean "Day"?'],
    ['a short name with three wrong letters', 'xxx', all],
    ['a long name of which a third is wrong', 'PlacementXXXX', 'Did you mean "PlacementIds"?'],
    ['a long name of which more than a third is wrong', 'PlacementXXXXX', all],
    ['a name in upper case', 'PLACEMENTIDS', 'Did you mean "PlacementIds"?'],
    ['blanks around a name', '   Day  ', 'Did you mean "Day"?'],
  ])('suggests the nearest name, or lists all names if none is near: %s', (_, name, answer) => {
    expect(didYouMean(name, names)).toBe(answer);
  });

  it('lists no name if no name is known', () => {
    expect(didYouMean('Day', [])).toBe('Known are: .');
  });
});

describe('shortened', () => {
  it('leaves texts of 100 characters unchanged, and cuts longer texts', () => {
    expect(shortened('🦊'.repeat(100))).toBe('🦊'.repeat(100));
    expect(shortened('🦊'.repeat(101))).toBe(`${'🦊'.repeat(100)}…`);
  });
});
