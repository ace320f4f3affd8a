import type { Series } from '../reader/chart-data.ts';

/** The indexes of points between two gaps. No line leads to these points. */
export const pointsAlone = (points: Series['points']): number[] =>
  [...points.keys()].filter(
    (index) => isThere(points[index]) && !isThere(points[index - 1]) && !isThere(points[index + 1]),
  );

const isThere = (point: Series['points'][number]): boolean => point !== null && point !== undefined;
