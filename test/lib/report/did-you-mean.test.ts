import { describe, expect, it } from 'vitest';
import { didYouMean, shortened } from '../../../lib/report/did-you-mean.ts';

describe('didYouMean', () => {
  const known = ['Day', 'PlacementIds'];
  const all = 'Known are: Day, PlacementIds.';
  it.each([
    ['two letters off a short name', 'Dxx', 'Did you mean "Day"?'],
    ['three letters off a short name', 'xxx', all],
    ['a third of a long name off', 'PlacementXXXX', 'Did you mean "PlacementIds"?'],
    ['more than a third of a long name off', 'PlacementXXXXX', all],
    ['a name in upper case', 'PLACEMENTIDS', 'Did you mean "PlacementIds"?'],
    ['blanks around a name', '   Day  ', 'Did you mean "Day"?'],
  ])('says which name may be meant, for %s', (_, name, answer) => {
    expect(didYouMean(name, known)).toBe(answer);
  });

  it('suggests no name if none is known', () => {
    expect(didYouMean('Day', [])).toBe('Known are: .');
  });
});

describe('shortened', () => {
  it('leaves 100 characters unchanged, and cuts longer texts', () => {
    expect(shortened('🦊'.repeat(100))).toBe('🦊'.repeat(100));
    expect(shortened('🦊'.repeat(101))).toBe(`${'🦊'.repeat(100)}…`);
  });
});
