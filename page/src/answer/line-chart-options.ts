import uPlot from 'uplot';
import { rough } from '../format.ts';
import type { ChartData, Series } from '../reader/chart-data.ts';
import { dayOf, instantText, isByDay, iso } from './chart-words.ts';
import { pointsAlone } from './points-alone.ts';

const DAY_SECONDS = 86_400;
const GAP_PX = 8;

/** Hatches the open days in the chart. More events of these days may still come, so their figures may be too low. */
function hatchOver(plot: uPlot, chart: ChartData, isOpen: (day: string) => boolean, colour: string): void {
  const days = [...new Set(chart.times.map((time) => dayOf(time)))].filter(isOpen);
  const { ctx, bbox } = plot;
  for (const day of days) {
    const midnight = Date.parse(`${day}T00:00:00Z`) / 1_000;
    // If the axis has only days, a day is one point. If the axis has hours, a day is a range of hours.
    const start = isByDay(chart) ? midnight - DAY_SECONDS / 2 : midnight;
    const [left, right] = [start, start + DAY_SECONDS].map((time) =>
      Math.min(bbox.left + bbox.width, Math.max(bbox.left, plot.valToPos(time, 'x', true))),
    ) as [number, number];
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, bbox.height);
    ctx.clip();
    ctx.strokeStyle = colour;
    ctx.globalAlpha = 0.5;
    ctx.beginPath();
    for (let x = left - bbox.height; x < right; x += GAP_PX * devicePixelRatio) {
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
  }
}

/** The chart's height. It is low, so that the first rows of the table fit on the same screen. */
export const HEIGHT_PX = 200;

/** The options of the line chart: the colours of the page, and times in UTC. */
export function optionsFor(
  chart: ChartData,
  element: HTMLElement,
  onPoint: (index: number | null) => void,
  isOpen: (day: string) => boolean,
): uPlot.Options {
  const colour = coloursAt(element);
  const axis = {
    stroke: colour('var(--muted)'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: colour('var(--line)'), width: 1 },
    ticks: { stroke: colour('var(--line)'), width: 1, size: 4 },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    tzDate: (time) => uPlot.tzDate(new Date(time * 1_000), 'Etc/UTC'),
    scales: {
      x: {
        time: !chart.dayCounts,
        range: (_, min, max) => (min === max ? [min - 43_200, max + 43_200] : [min, max]),
      },
      y: { range: (_, min, max) => [Math.min(0, min ?? 0), Math.max(0, max ?? 0) * 1.05 || 1] },
    },
    series: [
      {},
      ...chart.series.map((series, index) => {
        const { side, points } = series;
        const stroke = colour(colourOf(series, index));
        return {
          stroke,
          width: 2,
          ...(side === 'before' && { dash: [6, 4] }),
          points: {
            show: chart.times.length <= 62,
            size: 5,
            fill: stroke,
            // A point between two gaps has no line to it, so the chart draws the point itself.
            filter: (_: uPlot, __: number, isShown: boolean) => (isShown ? null : pointsAlone(points)),
          },
        };
      }),
    ],
    axes: [
      {
        ...axis,
        size: 28,
        ...(chart.dayCounts
          ? {
              incrs: [1, 2, 3, 4, 6, 12],
              values: (_: uPlot, splits: number[]) => splits.map((place) => instantText(place, chart)),
            }
          : {
              // If the report has only days, the axis has no labels for hours.
              ...(isByDay(chart) && { incrs: [1, 2, 3, 5, 7, 10, 14].map((count) => count * 86_400) }),
              values: (_: uPlot, splits: number[], __: number, ___: number, increment: number) =>
                splits.map((time) =>
                  increment >= 86_400 || time % 86_400 === 0 ? shortDay(time) : iso(time).slice(11, 16),
                ),
            }),
      },
      { ...axis, size: 64, values: (_: uPlot, splits: number[]) => splits.map(rough) },
    ],
    hooks: {
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
      drawClear: [(plot) => chart.dayCounts || hatchOver(plot, chart, isOpen, colour('var(--open)'))],
    },
  };
}

/** The colour of a line of the chart, in CSS. */
export const colourOf = ({ side }: Series, index: number): string =>
  `var(--series-${side === 'before' ? 7 : index})`;

/** Month and day in ISO form, `MM-DD`. */
const shortDay = (time: number): string => iso(time).slice(5, 10);

/** Reads colours from the style sheet for the canvas. A canvas does not understand `light-dark()`. */
function coloursAt(element: HTMLElement): (colour: string) => string {
  return (wanted) => {
    element.style.color = wanted;
    const { color } = getComputedStyle(element);
    element.style.color = '';
    return color;
  };
}
