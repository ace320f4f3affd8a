import { describe, expect, it } from 'vitest';
import { advertiserReport, dimensionsOf, publisherReport } from '../../../lib/report/catalogue.ts';
import { firstChoice } from '../../../page/src/question/choice.ts';
import { faultWords, faultyDays, valueFault } from '../../../page/src/question/fault-words.ts';
import type { Days } from '../../../page/src/question/presets.ts';
import { faultsOf, parametersOf } from '../../../page/src/question/request.ts';

/** The faults of a choice as the page tells them, each with the inputs of days that it is of. */
function told(fields: readonly string[], days: Days) {
  const parameters = parametersOf({ ...firstChoice(), fields }, days);
  return faultsOf(publisherReport, parameters).map((fault) => [
    faultWords(fault, { fields, days }),
    faultyDays(fault, days).join(' '),
  ]);
}

describe('faultWords', () => {
  const good = { first: '2026-02-01', last: '2026-02-07' };
  it.each<[string, readonly string[], Days, readonly (readonly [string, string])[]]>([
    ['nothing wrong', ['Day'], good, []],
    ['no field', [], good, [['Choose at least one field.', '']]],
    // Words of the service that the page has none for.
    ['an unknown field', ['Click'], good, [['Unknown field "Click". Did you mean "Clicks"?', '']]],
    ['no first day', ['Day'], { ...good, first: '' }, [['Choose the first day.', 'first']]],
    ['no last day', ['Day'], { ...good, last: '' }, [['Choose the last day.', 'last']]],
    ['no such first day', ['Day'], { ...good, first: '2026-02-30' }, [['2026-02-30 is no day.', 'first']]],
    ['no such last day', ['Day'], { ...good, last: '2026-13-01' }, [['2026-13-01 is no day.', 'last']]],
    [
      'a day in another form',
      ['Day'],
      { ...good, last: '7.2.2026' },
      [['7.2.2026 is no day. Write it as YYYY-MM-DD.', 'last']],
    ],
    [
      'two that are no days',
      ['Day'],
      { first: '', last: 'x' },
      [
        ['Choose the first day.', 'first'],
        ['x is no day. Write it as YYYY-MM-DD.', 'last'],
      ],
    ],
    [
      'a window that ends before it begins',
      ['Day'],
      { first: '2026-02-07', last: '2026-02-01' },
      [['The last day is before the first day.', 'first last']],
    ],
    // Its end is its start: the service compares instants, the page days.
    [
      'a window that ends the day before it begins',
      ['Day'],
      { first: '2026-02-07', last: '2026-02-06' },
      [['The last day is before the first day.', 'first last']],
    ],
    ['as many days as may be', ['Day'], { first: '2026-01-01', last: '2026-02-01' }, []],
    [
      'a day too many',
      ['Day'],
      { first: '2026-01-01', last: '2026-02-02' },
      [['At most 32 days. From 2026-01-01 on, the last day can be 2026-02-01.', 'first last']],
    ],
  ])('%s', (_, fields, days, words) => {
    expect(told(fields, days)).toEqual(words);
  });

  it.each(['requestedFields', 'startInclusive', 'endExclusive', 'filter[PlacementId]', 'Accept'])(
    'loses nothing that the service says of %s and the choice does not explain',
    (parameter) => {
      const fault = { parameter, detail: 'Something else.' };
      for (const days of [good, { ...good, first: good.last }])
        expect(faultWords(fault, { fields: ['Day'], days })).toBe('Something else.');
    },
  );
});

describe('valueFault', () => {
  it.each([
    ['PlacementId', '12', undefined],
    ['PlacementId', '', 'Give a value, or drop this one.'],
    ['PlacementId', 'x', 'x is no whole number.'],
    ['PlacementId', '1,2', '1,2 is no whole number. Add each value by itself.'],
    ['PlacementId', '99999999999999999999', 'The integer does not fit into 64 bits.'],
    ['DemandOrigin', 'O’Brien, & Co', undefined],
    ['DemandOrigin', '', 'Give a value, or drop this one.'],
    ['DemandOrigin', 'x'.repeat(257), 'At most 256 characters.'],
    ['Day', '2026-02-01T00:00:00Z', undefined],
    ['Day', '2026-02-30T00:00:00Z', '2026-02-30 is no day.'],
    ['Day', '1.2.2026', '1.2.2026 is no day. Write it as YYYY-MM-DD.'],
    ['Day', '2026-02-01T05:00:00Z', '2026-02-01T05:00:00Z is no day. Write it as YYYY-MM-DD.'],
    ['DateTime', '2026-02-01T05:00:00Z', undefined],
    ['DateTime', '2026-02-01T05:30:00Z', '2026-02-01 05:30 is no hour. Write it as YYYY-MM-DD HH:00.'],
    ['DateTime', 'noon', 'noon is no hour. Write it as YYYY-MM-DD HH:00.'],
  ])('%s "%s": %s', (name, value, words) => {
    const dimension = dimensionsOf(advertiserReport).find((candidate) => candidate.name === name);
    if (!dimension) throw new TypeError(name);
    expect(valueFault(dimension, value)).toBe(words);
  });
});
