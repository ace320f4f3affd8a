import { describe, expect, it } from 'vitest';
import { InvalidRequest } from '../../../lib/problems/problem.ts';
import { parseDaysRequest } from '../../../lib/report/parse-request.ts';
import { parametersOf } from './parameters.ts';

type Parameters = Record<string, string[] | undefined>;
const good = parametersOf('2026-01-01/2026-02-01');
const MISSING = 'Missing: this parameter is required.';

const faultsOf = (changes: Parameters) => {
  try {
    parseDaysRequest({ ...good, ...changes });
  } catch (error) {
    if (error instanceof InvalidRequest) return error.faults;
    throw error;
  }
  return [];
};

describe('parseDaysRequest', () => {
  it('reads the window', () => {
    expect(parseDaysRequest(good)).toEqual({ start: Date.UTC(2026, 0, 1), end: Date.UTC(2026, 1, 1) });
  });

  it.each([
    ['one second', '2026-01-01T00:00:01Z'],
    ['400 days', '2027-02-05T00:00:00Z'],
  ])('accepts a window of %s', (_, end) => {
    expect(faultsOf({ endExclusive: [end] })).toEqual([]);
  });

  it.each<[Parameters, string]>([
    [{ startInclusive: undefined }, MISSING],
    [{ endExclusive: undefined }, MISSING],
    [{ 'api-version': undefined }, MISSING],
    [{ 'api-version': ['2.0'] }, '"2.0" is not supported. Supported: 1.0.'],
    [{ endExclusive: ['2026-01-01T00:00:00Z'] }, 'Must be later than startInclusive.'],
    [
      { endExclusive: ['2027-02-05T00:00:01Z'] },
      'The window is longer than 400 days. Send 2 requests: the first ends at 2027-02-05T00:00:00Z, and each next one begins where the one before it ends.',
    ],
    [{ groupBy: ['Day'] }, 'Unknown parameter. Known are: startInclusive, endExclusive, api-version.'],
    [{ startinclusiv: ['x'] }, 'Unknown parameter. Did you mean "startInclusive"?'],
  ])('refuses %o: %s', (changes, detail) => {
    expect(faultsOf(changes)).toEqual([{ parameter: Object.keys(changes)[0], detail }]);
  });

  it('names every fault at once', () => {
    const changes = { a: ['x'], 'api-version': undefined, endExclusive: ['x'], startInclusive: undefined };
    const names = ['startInclusive', 'endExclusive', 'api-version', 'a'];
    expect(faultsOf(changes).map(({ parameter }) => parameter)).toEqual(names);
  });
});
