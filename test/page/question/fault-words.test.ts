import { describe, expect, it } from 'vitest';
import { advertiserReport, dimensionsOf, publisherReport } from '../../../lib/report/catalogue.ts';
import { MAX_WINDOW_DAYS } from '../../../lib/report/utc-time.ts';
import { firstChoice } from '../../../page/src/question/choice.ts';
import { faultWords, faultyDays, valueFault } from '../../../page/src/question/fault-words.ts';
import { addDays, type Days } from '../../../page/src/question/presets.ts';
import { faultsOf, parametersOf } from '../../../page/src/question/request.ts';

/** The faults of a choice in the page's words, each with the day inputs that it belongs to. */
function told(fields: readonly string[], days: Days) {
  const parameters = parametersOf({ ...firstChoice(), fields }, days);
  return faultsOf(publisherReport, parameters).map((fault) => [
    faultWords(fault, { fields, days }),
    faultyDays(fault, days).join(' '),
  ]);
}

const FIRST = '2026-01-01';
/** The last day of the longest window that begins with 2026. */
const LAST = addDays(FIRST, MAX_WINDOW_DAYS - 1);

describe('faultWords', () => {
  const good = { first: '2026-02-01', last: '2026-02-07' };
  const FORM = 'Write it as YYYY-MM-DD.';
  type Row = [string, readonly string[], Days, readonly (readonly [string, string])[]];
  it.each<Row>([
    ['no fault', ['Day'], good, []],
    ['no field', [], good, [['Choose at least one field.', '']]],
    // The page has no words of its own for this fault, so it shows the service's words.
    ['an unknown field', ['Click'], good, [['Unknown field "Click". Did you mean "Clicks"?', '']]],
    ['no last day', ['Day'], { ...good, last: '' }, [['Choose the last day.', 'last']]],
    ['no such first day', ['Day'], { ...good, first: '2026-02-30' }, [['2026-02-30 is no day.', 'first']]],
    [
      'a missing first day and a last day that can’t be read',
      ['Day'],
      { first: '', last: 'x' },
      [
        ['Choose the first day.', 'first'],
        [`x is no day. ${FORM}`, 'last'],
      ],
    ],
    // The second window ends in the request at the instant at which it starts. The page compares the days.
    ...['2026-02-01', '2026-02-06'].map(
      (last): Row => [
        `a window that ends before it begins, on ${last}`,
        ['Day'],
        { first: '2026-02-07', last },
        [['The last day is before the first day.', 'first last']],
      ],
    ),
    ['the longest window', ['Day'], { first: FIRST, last: LAST }, []],
    [
      'a window that is one day too long',
      ['Day'],
      { first: FIRST, last: addDays(LAST, 1) },
      [[`At most ${MAX_WINDOW_DAYS} days. From ${FIRST} on, the last day can be ${LAST}.`, 'first last']],
    ],
  ])('describes the faults of a choice: %s', (_, fields, days, words) => {
    expect(told(fields, days)).toEqual(words);
  });

  it.each(['requestedFields', 'startInclusive', 'endExclusive', 'filter[PlacementId]', 'Accept'])(
    'shows the service’s words about %s if the choice does not explain the fault',
    (parameter) => {
      const fault = { parameter, detail: 'Something else.' };
      for (const days of [good, { ...good, first: good.last }])
        expect(faultWords(fault, { fields: ['Day'], days })).toBe('Something else.');
    },
  );
});

it.each([
  ['PlacementId', '12', undefined],
  ['PlacementId', '', 'Give a value, or drop this one.'],
  ['PlacementId', 'x', 'x is no whole number.'],
  ['PlacementId', '1,2', '1,2 is no whole number. Add each value by itself.'],
  ['PlacementId', '99999999999999999999', 'The integer does not fit into 64 bits.'],
  ['DemandOrigin', 'O’Brien, & Co', undefined],
  ['DemandOrigin', 'x'.repeat(257), 'At most 256 characters.'],
  ['Day', '2026-02-01T00:00:00Z', undefined],
  ['Day', '2026-02-30T00:00:00Z', '2026-02-30 is no day.'],
  ['Day', '1.2.2026', '1.2.2026 is no day. Write it as YYYY-MM-DD.'],
  ['Day', '2026-02-01T05:00:00Z', '2026-02-01T05:00:00Z is no day. Write it as YYYY-MM-DD.'],
  ['DateTime', '2026-02-01T05:00:00Z', undefined],
  ['DateTime', '2026-02-01T05:30:00Z', '2026-02-01 05:30 is no hour. Write it as YYYY-MM-DD HH:00.'],
  ['DateTime', 'noon', 'noon is no hour. Write it as YYYY-MM-DD HH:00.'],
])('valueFault describes the fault of %s "%s": %s', (name, value, words) => {
  const dimension = dimensionsOf(advertiserReport).find((candidate) => candidate.name === name);
  if (!dimension) throw new TypeError(name);
  expect(valueFault(dimension, value)).toBe(words);
});
