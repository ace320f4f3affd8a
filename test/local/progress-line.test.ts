import { expect, it } from 'vitest';
import { progressLine } from '../../local/progress-line.ts';

it.each([
  [80, 'Making sample events, once: [##########..............................] 30/118'],
  [60, 'Making sample events, once: [######................] 30/118'],
  [43, 'Making sample events, once: [#....] 30/118'],
  [42, 'events: 30/118'],
  [10, 'events: 3'],
  [0, ''],
])('a terminal of %i columns shows a line that fits', (columns, line) => {
  expect(progressLine(30, 118, columns)).toBe(line);
  expect(line.length).toBeLessThan(Math.max(1, columns));
});
