import type { Series } from '../reader/chart-data.ts';

/** Where a series has a point between two gaps: no line leads to it. */
export const pointsAlone = (points: Series['points']): number[] =>
  [...points.keys()].filter(
    (index) => isThere(points[index]) && !isThere(points[index - 1]) && !isThere(points[index + 1]),
  );

const isThere = (point: Series['points'][number]): boolean => point !== null && point !== undefined;
