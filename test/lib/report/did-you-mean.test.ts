import { describe, expect, it } from 'vitest';
import { didYouMean, shortened } from '../../../lib/report/did-you-mean.ts';

describe('didYouMean', () => {
  const known = ['Day', 'PlacementIds'];
  const all = 'Known are: Day, PlacementIds.';
  it.each([
    ['a short name with two wrong letters', 'Dxx', 'Did you mean "Day"?'],
    ['a short name with three wrong letters', 'xxx', all],
    ['a long name of which a third is wrong', 'PlacementXXXX', 'Did you mean "PlacementIds"?'],
    ['a long name of which more than a third is wrong', 'PlacementXXXXX', all],
    ['a name in upper case', 'PLACEMENTIDS', 'Did you mean "PlacementIds"?'],
    ['blanks around a name', '   Day  ', 'Did you mean "Day"?'],
  ])('suggests the nearest name, or lists all names if none is near: %s', (_, name, answer) => {
    expect(didYouMean(name, known)).toBe(answer);
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
