import { describe, expect, it } from 'vitest';
import { InvalidRequest } from '../../../lib/problems/problem.ts';
import { problemResponse } from '../../../lib/problems/problem-response.ts';
import {
  advertiserReport,
  dimensionsOf,
  type Field,
  fieldOf,
  publisherReport,
  type Report,
} from '../../../lib/report/catalogue.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';
import { formatUtcTime, MAX_WINDOW_DAYS } from '../../../lib/report/utc-time.ts';

const DAY_MS = 86_400_000;
/** The end of the longest window that begins with 2026. */
const longest = formatUtcTime(Date.UTC(2026, 0, 1) + MAX_WINDOW_DAYS * DAY_MS);

const good = {
  requestedFields: ['Day,Clicks'],
  startInclusive: ['2026-01-01T00:00:00Z'],
  endExclusive: ['2026-02-01T00:00:00Z'],
  'api-version': ['1.0'],
};
type Parameters = Record<string, string[] | undefined>;

const parse = (changes: Parameters, accept?: string, report: Report = publisherReport) => {
  const parameters = Object.fromEntries(
    Object.entries({ ...good, ...changes }).filter(([, values]) => values !== undefined),
  );
  return parseRequest(report, { parameters, accept });
};

const refusalOf = (changes: Parameters, accept?: string, report?: Report): InvalidRequest => {
  try {
    parse(changes, accept, report);
  } catch (error) {
    if (error instanceof InvalidRequest) return error;
    throw error;
  }
  throw new Error('the request was taken');
};
const faultsOf = (...request: [Parameters, string?, Report?]) => refusalOf(...request).faults;

const named = (name: string) => fieldOf(publisherReport, name);

describe('parseRequest', () => {
  it('reads fields in requested order, the window in milliseconds and no filters', () => {
    expect(parse({ requestedFields: ['Clicks,Day,Opens'] })).toEqual({
      report: publisherReport,
      requestedFields: ['Clicks', 'Day', 'Opens'].map(named),
      window: { start: Date.UTC(2026, 0, 1), end: Date.UTC(2026, 1, 1) },
      filters: [],
    });
  });

  it('types filter values by their field, takes each value once, and orders filters as the catalogue does', () => {
    const { filters } = parse({
      'filter[DeviceOrProxy]': ['phone', 'desktop', 'phone'],
      'filter[PlacementId]': ['007', '-9223372036854775808', '7'],
      'filter[Day]': ['2026-01-02T00:00:00Z'],
      'filter[DateTime]': ['2026-01-02T03:00:00Z'],
    });
    expect(filters).toEqual([
      {
        kind: 'time',
        dimension: named('DateTime'),
        values: [Date.UTC(2026, 0, 2, 3)],
      },
      {
        kind: 'time',
        dimension: named('Day'),
        values: [Date.UTC(2026, 0, 2)],
      },
      {
        kind: 'column',
        dimension: named('PlacementId'),
        values: [-9223372036854775808n, 7n],
      },
      {
        kind: 'column',
        dimension: named('DeviceOrProxy'),
        values: ['desktop', 'phone'],
      },
    ]);
  });

  it.each([
    [
      'groupBy that holds every requested dimension, in any order',
      { requestedFields: ['Day,Clicks,ContainerId'], groupBy: ['ContainerId,Day'] },
    ],
    ['only metrics', { requestedFields: ['Clicks'] }],
    ['only dimensions', { requestedFields: ['Day'] }],
    ['the longest window', { endExclusive: [longest] }],
    ['a window of one second', { endExclusive: ['2026-01-01T00:00:01Z'] }],
    [
      'a window on 29 February',
      { startInclusive: ['2028-02-29T00:00:00Z'], endExclusive: ['2028-02-29T12:00:00Z'] },
    ],
    ['a filter on a text of 256 emoji', { 'filter[DeviceOrProxy]': ['🦊'.repeat(256)] }],
  ])('accepts %s', (_, changes: Parameters) => {
    expect(() => parse(changes)).not.toThrow();
  });

  it.each([
    undefined,
    '*/*',
    'text/*',
    'text/csv',
    'TEXT/CSV',
    'text/csv; charset=utf-8',
    'text/csv, text/csv; charset=utf-8; q=0',
    'application/json, text/csv;q=0.1',
  ])('accepts the Accept header %s', (accept) => {
    expect(() => parse({}, accept)).not.toThrow();
  });

  it.each(['application/json', 'text/csv;q=0', 'text/plain', 'nonsense'])(
    'refuses the Accept header %s',
    (accept) => {
      expect(faultsOf({}, accept)).toEqual([
        { parameter: 'Accept', detail: 'The report is text/csv. Send Accept: text/csv, or none.' },
      ]);
    },
  );

  const namesOf = (fields: readonly Field[]) => fields.map(({ name }) => name).join(', ');
  const dimensions = namesOf(dimensionsOf(publisherReport));
  it.each<[string, Parameters, string, string]>([
    [
      'a missing requestedFields',
      { requestedFields: undefined },
      'requestedFields',
      'Missing: this parameter is required.',
    ],
    [
      'a missing start',
      { startInclusive: undefined },
      'startInclusive',
      'Missing: this parameter is required.',
    ],
    ['a missing end', { endExclusive: undefined }, 'endExclusive', 'Missing: this parameter is required.'],
    [
      'a missing version',
      { 'api-version': undefined },
      'api-version',
      'Missing: this parameter is required.',
    ],
    [
      'an unsupported version',
      { 'api-version': ['1'] },
      'api-version',
      '"1" is not supported. Supported: 1.0.',
    ],
    [
      'a repeated parameter',
      { 'api-version': ['1.0', '1.0'] },
      'api-version',
      'Given 2 times: give it once.',
    ],
    [
      'an empty list of fields',
      { requestedFields: [''] },
      'requestedFields',
      'Entry 1 of the list is empty.',
    ],
    [
      'an empty entry in a list of fields',
      { requestedFields: ['Day,'] },
      'requestedFields',
      'Entry 2 of the list is empty.',
    ],
    [
      'a field listed twice',
      { requestedFields: ['Day,Day'] },
      'requestedFields',
      '"Day" is listed more than once.',
    ],
    [
      'a misspelt field',
      { requestedFields: ['Day,Click'] },
      'requestedFields',
      'Unknown field "Click". Did you mean "Clicks"?',
    ],
    [
      'a blank before a name',
      { requestedFields: ['Day, Clicks'] },
      'requestedFields',
      'Unknown field " Clicks". Did you mean "Clicks"?',
    ],
    [
      'a name that every JavaScript object has',
      { requestedFields: ['__proto__'] },
      'requestedFields',
      `Unknown field "__proto__". Known are: ${namesOf(publisherReport.fields)}.`,
    ],
    [
      'a metric in groupBy',
      { groupBy: ['Day,Clicks'] },
      'groupBy',
      `"Clicks" is a metric. Only dimensions can stand here: ${dimensions}.`,
    ],
    [
      'a field in groupBy that is not in requestedFields',
      { groupBy: ['Day,ContainerId'] },
      'groupBy',
      '"ContainerId" must also be in requestedFields.',
    ],
    [
      'a requested dimension that is not in groupBy',
      { requestedFields: ['Day,ContainerId'], groupBy: ['Day'] },
      'groupBy',
      '"ContainerId" is a requested dimension: add it here or leave it out of requestedFields.',
    ],
    ...[
      ['requestedFields', 'Day,Spend', 'Spend'],
      ['requestedFields', 'Day,spend', 'spend'],
      ['groupBy', 'Day,CampaignId', 'CampaignId'],
      ['filter[CampaignId]', '1', 'CampaignId'],
      ['filter[Spend]', '1', 'Spend'],
    ].map(([parameter = '', value = '', name = '']): [string, Parameters, string, string] => [
      `a field of the other report: ${value} in ${parameter}`,
      { [parameter]: [value] },
      parameter,
      `Unknown field "${name}". The report advertiserperformance has it.`,
    ]),
    [
      'a filter on a day that does not exist',
      { 'filter[Day]': ['2026-02-31T00:00:00Z'] },
      'filter[Day]',
      '"2026-02-31T00:00:00Z" does not exist.',
    ],
    ['an empty groupBy', { groupBy: [''] }, 'groupBy', 'Entry 1 of the list is empty.'],
    [
      'a date without a time',
      { startInclusive: ['2026-01-01'] },
      'startInclusive',
      '"2026-01-01" is not a date and time of the form YYYY-MM-DDThh:mm:ssZ.',
    ],
    [
      'a time with an offset',
      { startInclusive: ['2026-01-01T00:00:00+01:00'] },
      'startInclusive',
      '"2026-01-01T00:00:00+01:00" is not a date and time of the form YYYY-MM-DDThh:mm:ssZ.',
    ],
    [
      'a year of six digits',
      { endExclusive: ['+010000-01-01T00:00Z'] },
      'endExclusive',
      '"+010000-01-01T00:00Z" is not a date and time of the form YYYY-MM-DDThh:mm:ssZ.',
    ],
    [
      '30 February',
      { startInclusive: ['2026-02-30T00:00:00Z'] },
      'startInclusive',
      '"2026-02-30T00:00:00Z" does not exist.',
    ],
    [
      'the hour 24',
      { endExclusive: ['2026-01-01T24:00:00Z'] },
      'endExclusive',
      '"2026-01-01T24:00:00Z" does not exist.',
    ],
    [
      'an empty window',
      { endExclusive: ['2026-01-01T00:00:00Z'] },
      'endExclusive',
      'Must be later than startInclusive.',
    ],
    [
      'a window that is a second longer than the longest',
      { endExclusive: [longest.replace('00Z', '01Z')] },
      'endExclusive',
      `The window is longer than ${MAX_WINDOW_DAYS} days. Send 2 requests: the first ends at ${longest}, and each next one begins where the one before it ends.`,
    ],
    [
      'a filter on a metric',
      { 'filter[Clicks]': ['1'] },
      'filter[Clicks]',
      `"Clicks" is a metric. Only dimensions can stand here: ${dimensions}.`,
    ],
    [
      'a filter on an unknown field',
      { 'filter[Placement]': ['1'] },
      'filter[Placement]',
      'Unknown field "Placement". Did you mean "PlacementId"?',
    ],
    [
      'a filter without a field',
      { 'filter[]': ['1'] },
      'filter[]',
      'Unknown parameter. A filter has the form filter[FieldName]=value.',
    ],
    ...['[]', '[0]', '[17]'].map((suffix): [string, Parameters, string, string] => [
      `a filter written as a list with ${suffix}`,
      { [`filter[DeviceOrProxy]${suffix}`]: ['a'] },
      `filter[DeviceOrProxy]${suffix}`,
      'Write filter[DeviceOrProxy]. For several values, repeat it: filter[DeviceOrProxy]=…&filter[DeviceOrProxy]=…',
    ]),
    [
      'a filter with a word in a second pair of brackets',
      { 'filter[PlacementId][gt]': ['1'] },
      'filter[PlacementId][gt]',
      'Unknown parameter. A filter has the form filter[FieldName]=value.',
    ],
    [
      'a filter written as a list with a letter after the list’s brackets',
      { 'filter[DeviceOrProxy][0]x': ['a'] },
      'filter[DeviceOrProxy][0]x',
      'Unknown parameter. A filter has the form filter[FieldName]=value.',
    ],
    [
      'a filter with a word and a dot before it',
      { 'x.filter[DeviceOrProxy]': ['a'] },
      'x.filter[DeviceOrProxy]',
      'Unknown parameter. Known are: requestedFields, startInclusive, endExclusive, groupBy, api-version, filter[FieldName].',
    ],
    [
      'a filter with a letter before it',
      { 'xfilter[DeviceOrProxy]': ['a'] },
      'xfilter[DeviceOrProxy]',
      'Unknown parameter. Known are: requestedFields, startInclusive, endExclusive, groupBy, api-version, filter[FieldName].',
    ],
    [
      'requestedFields written as a list',
      { requestedFields: undefined, 'requestedFields[]': ['Day', 'Clicks'] },
      'requestedFields[]',
      'Write requestedFields, once, its names separated by commas: requestedFields=FieldName,FieldName',
    ],
    [
      'groupBy written as a list',
      { 'groupBy[0]': ['Day'] },
      'groupBy[0]',
      'Write groupBy, once, its names separated by commas: groupBy=FieldName,FieldName',
    ],
    [
      'a repeated requestedFields',
      { requestedFields: ['Day', 'Clicks'] },
      'requestedFields',
      'Given 2 times: give it once, its names separated by commas.',
    ],
    [
      'several integers in one filter',
      { 'filter[PlacementId]': ['1,2'] },
      'filter[PlacementId]',
      '"1,2" is not an integer in decimal digits. For several values, repeat the parameter once a value.',
    ],
    [
      'several days in one filter',
      { 'filter[Day]': ['2026-01-01T00:00:00Z,2026-01-02T00:00:00Z'] },
      'filter[Day]',
      'The value must be a midnight, YYYY-MM-DDT00:00:00Z, or no record could match. For several values, repeat the parameter once a value.',
    ],
    [
      'bytes that are not UTF-8, as the gateway passes them on',
      { 'filter[DeviceOrProxy]': ['a\ufffd'] },
      'filter[DeviceOrProxy]',
      'The value is not UTF-8. Percent-encode its UTF-8 bytes.',
    ],
    [
      'a parameter with a long name',
      { [`filter[${'x'.repeat(5_000)}][]`]: ['1'] },
      `${`filter[${'x'.repeat(5_000)}][]`.slice(0, 100)}…`,
      `Write ${`filter[${'x'.repeat(5_000)}]`.slice(0, 100)}…. For several values, repeat it: ${`filter[${'x'.repeat(93)}…=…&`.repeat(2).slice(0, -1)}`,
    ],
    [
      'an integer with a plus sign',
      { 'filter[PlacementId]': ['+1'] },
      'filter[PlacementId]',
      '"+1" is not an integer in decimal digits.',
    ],
    [
      'an integer with a fraction',
      { 'filter[PlacementId]': ['1.0'] },
      'filter[PlacementId]',
      '"1.0" is not an integer in decimal digits.',
    ],
    [
      'SQL in place of an integer',
      { 'filter[PlacementId]': ['1 OR 1=1'] },
      'filter[PlacementId]',
      '"1 OR 1=1" is not an integer in decimal digits.',
    ],
    [
      'digits of another script',
      { 'filter[PlacementId]': ['١'] },
      'filter[PlacementId]',
      '"١" is not an integer in decimal digits.',
    ],
    [
      'an integer that is too large for a signed 64-bit integer',
      { 'filter[PlacementId]': ['9223372036854775808'] },
      'filter[PlacementId]',
      'The integer does not fit into 64 bits.',
    ],
    ['an empty text', { 'filter[DeviceOrProxy]': [''] }, 'filter[DeviceOrProxy]', 'The value is empty.'],
    [
      'a text of 257 characters',
      { 'filter[DeviceOrProxy]': ['x'.repeat(257)] },
      'filter[DeviceOrProxy]',
      'At most 256 characters.',
    ],
    [
      'a text with a newline',
      { 'filter[DeviceOrProxy]': ['a\nb'] },
      'filter[DeviceOrProxy]',
      'The value contains control characters.',
    ],
    [
      'a text with a NUL character',
      { 'filter[DeviceOrProxy]': ['a\u0000'] },
      'filter[DeviceOrProxy]',
      'The value contains control characters.',
    ],
    [
      'a filter on Day with a time that is not midnight',
      { 'filter[Day]': ['2026-01-01T01:00:00Z'] },
      'filter[Day]',
      'The value must be a midnight, YYYY-MM-DDT00:00:00Z, or no record could match.',
    ],
    [
      'a filter on DateTime with a time that is not a whole hour',
      { 'filter[DateTime]': ['2026-01-01T01:30:00Z'] },
      'filter[DateTime]',
      'The value must be a whole hour, YYYY-MM-DDThh:00:00Z, or no record could match.',
    ],
    ['a misspelt parameter', { groupby: ['Day'] }, 'groupby', 'Unknown parameter. Did you mean "groupBy"?'],
    [
      'an unknown parameter that resembles no known parameter',
      { xyzzy: ['1'] },
      'xyzzy',
      'Unknown parameter. Known are: requestedFields, startInclusive, endExclusive, groupBy, api-version, filter[FieldName].',
    ],
  ])('refuses %s', (_, changes, parameter, detail) => {
    expect(faultsOf(changes)).toEqual([{ parameter, detail }]);
  });

  it.each(['limit', 'page', 'offset', 'cursor', 'pageSize'])('refuses %s: the answer is whole', (name) => {
    const detail = 'Unknown parameter. There are no pages: the answer is one, and whole. Leave it out.';
    expect(faultsOf({ [name]: ['1'] })).toEqual([{ parameter: name, detail }]);
  });

  it('checks requestedFields even if the request has requestedFields[] too', () => {
    const changes = { requestedFields: ['Day,Click'], 'requestedFields[]': ['Day'] };
    expect(faultsOf(changes).map(({ parameter }) => parameter)).toEqual([
      'requestedFields',
      'requestedFields[]',
    ]);
  });

  it('accepts only the fields of the requested report', () => {
    expect(
      faultsOf({ requestedFields: ['Opens'] }, undefined, advertiserReport).map(({ parameter }) => parameter),
    ).toEqual(['requestedFields']);
  });

  it('names the first fault, and how many more there are, in the detail', () => {
    expect(() => parse({ requestedFields: ['Day,Click'] })).toThrow(
      /^requestedFields: Unknown field "Click". Did you mean "Clicks"\?$/,
    );
    expect(() => parse({ requestedFields: ['Day,Click'], order: ['1'], limit: ['1'] })).toThrow(
      /^requestedFields: Unknown field "Click". Did you mean "Clicks"\? \(2 more in errors\)$/,
    );
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
    expect(
      faultsOf(
        {
          requestedFields: ['Day,Click'],
          startInclusive: undefined,
          'filter[PlacementId]': ['x'],
          'api-version': ['2.0'],
          order: ['Day'],
        },
        'application/json',
      ).map(({ parameter }) => parameter),
    ).toEqual(['requestedFields', 'startInclusive', 'filter[PlacementId]', 'order', 'api-version', 'Accept']);
  });
});
