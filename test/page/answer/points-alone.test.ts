import { expect, it } from 'vitest';
import { pointsAlone } from '../../../page/src/answer/points-alone.ts';

it.each([
  ['no points', [], []],
  ['one point', [0], [0]],
  ['points beside each other', [1, 2, undefined, 4, 5], []],
  ['points between gaps', [1, undefined, 2, null, 4, 5, undefined, 6], [0, 2, 7]],
])('finds the points that no line leads to: %s', (_, points, expected) => {
  expect(pointsAlone(points)).toEqual(expected);
});
