import { describe, expect, it } from 'vitest';
import { type Dimension, dimensionsOf, publisherReport } from '../../../lib/report/catalogue.ts';
import {
  inFile,
  isChosen,
  MAX_KEPT,
  searchValues,
  shareWords,
  valueRanking,
  withToggled,
} from '../../../page/src/question/found-values.ts';

const dimension = (name: string): Dimension => {
  const found = dimensionsOf(publisherReport).find((candidate) => candidate.name === name);
  if (!found) throw new TypeError(name);
  return found;
};
const device = dimension('DeviceOrProxy');
const placement = dimension('PlacementId');

describe('valueRanking', () => {
  it('ranks values by amount, keeps the file’s order of equal amounts, and adds up the total', () => {
    const ranking = valueRanking('ServedAds');
    const rows = [
      ['Desktop', '30'],
      ['Mobile', '621'],
      ['TV', '30'],
      [null, '319'],
    ] as const;
    for (const [value, digits] of rows) ranking.add(value, digits);
    const { values, ...all } = ranking.found();
    expect(all).toEqual({ metric: 'ServedAds', count: 4, total: 1_000 });
    expect(values.map(({ value, amount }) => `${value ?? '(none)'} ${amount}`)).toEqual([
      ...['Mobile 621', '(none) 319', 'Desktop 30', 'TV 30'],
    ]);
  });

  it('keeps only the largest of many values, counts and adds up all, and is empty without rows', () => {
    const ranking = valueRanking('ServedAds');
    const count = 9 * MAX_KEPT + 1;
    for (let id = 0; id < count; id++) ranking.add(String(id), String((id * 7_919) % count));
    const { values, ...all } = ranking.found();
    expect(all).toEqual({ metric: 'ServedAds', count, total: (count * (count - 1)) / 2 });
    expect(values.map(({ amount }) => amount)).toEqual(
      Array.from({ length: MAX_KEPT }, (_, place) => count - 1 - place),
    );
    const none = { metric: 'ServedAds', values: [], count: 0, total: 0 };
    expect(valueRanking('ServedAds').found()).toEqual(none);
  });
});

it.each([
  [621, 1_000, '62.1 %'],
  [0, 1_000, '0.0 %'],
  [1, 2_000, '0.1 %'],
  [1, 2_001, 'below 0.1 %'],
  // A total of zero has no shares.
  [0, 0, ''],
])('shareWords describes the share of %d in %d: %s', (amount, total, words) => {
  expect(shareWords({ value: 'x', amount }, total)).toBe(words);
});

const searched = ['Mobile', 'Automobile', '', null, 'Desktop'].map((value) => ({ value, amount: 1 }));
it.each([
  ['', searched.map(({ value }) => value)],
  [' ', searched.map(({ value }) => value)],
  ['mobile', ['Mobile', 'Automobile']],
  ['MOB ', ['Mobile', 'Automobile']],
  ['not', [null]],
  ['empty', ['']],
  ['.', []],
])('searchValues finds the values that contain "%s"', (search, found) => {
  expect(searchValues(searched, search).map(({ value }) => value)).toEqual(found);
});

describe('a filter’s values', () => {
  it.each([
    [placement, '007', '7'],
    [placement, '-0', '0'],
    [placement, '12345678901234567890', '12345678901234567890'],
    [placement, 'x', 'x'],
    [device, '007', '007'],
  ])('are compared in the form that the file has: row %#', (of, value, expected) => {
    expect(inFile(of, value)).toBe(expected);
  });

  it.each([
    ['the first value replaces the empty input', device, [''], 'TV', ['TV']],
    ['another value is added', device, ['TV'], 'Mobile', ['TV', 'Mobile']],
    ['a value that differs only in capital letters is added', device, ['tv'], 'TV', ['tv', 'TV']],
    ['a chosen value is removed', device, ['TV', 'Mobile'], 'TV', ['Mobile']],
    ['an empty input replaces the last value', device, ['TV'], 'TV', ['']],
    ['every spelling of a number is removed', placement, ['7', '007', '8'], '7', ['8']],
  ] as const)('change when the user chooses or drops a value: %s', (_, of, values, toggled, expected) => {
    expect(withToggled(of, values, toggled)).toEqual(expected);
    expect(isChosen(of, expected, toggled)).toBe(!isChosen(of, values, toggled));
  });
});
