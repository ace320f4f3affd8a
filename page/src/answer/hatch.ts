import type uPlot from 'uplot';
import type { ChartData } from '../reader/chart-data.ts';
import { dayOf, isByDay } from './chart-words.ts';

const DAY_SECONDS = 86_400;
const GAP_PX = 8;

/** Hatches the open days in the chart. More events of these days may still come, so their figures may be too low. */
export function hatchOver(
  plot: uPlot,
  chart: ChartData,
  isOpen: (day: string) => boolean,
  colour: string,
): void {
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
