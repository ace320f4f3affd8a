import { describe, expect, it } from 'vitest';
import { advertiserReport, fieldOf, publisherReport } from '../../lib/report/catalogue.ts';
import { levelOf } from '../../page/src/levels.ts';

describe('the dimension that a metric is counted by', () => {
  it.each([
    ['Opens', ['Day', 'Opens'], 'ContainerId'],
    ['Opens', ['PlacementId', 'Opens'], 'PlacementId'],
    ['Opens', ['ContainerId', 'PlacementId', 'Opens'], 'PlacementId'],
    ['Clicks', ['PlacementId', 'Clicks'], undefined],
    ['PlacementId', ['PlacementId', 'Opens'], undefined],
    ['CTR', ['Opens'], undefined],
  ])('is, for %s in a report of %j: %s', (name, fields, expected) => {
    expect(levelOf(fieldOf(publisherReport, name), fields)).toBe(expected);
  });

  it('is undefined in a report without levels', () => {
    expect(levelOf(fieldOf(advertiserReport, 'Clicks'), ['PlacementId', 'Clicks'])).toBeUndefined();
  });
});
