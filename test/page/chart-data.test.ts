import { describe, expect, it } from 'vitest';
import { fieldOf, publisherReport } from '../../lib/report/catalogue.ts';
import { type Column, chartGatherer } from '../../page/src/chart-data.ts';

const columns = (...names: string[]): Column[] =>
  names.flatMap((name) => {
    const field = fieldOf(publisherReport, name);
    return field ? [{ name, field }] : [];
  });
const day = (date: number) => `2026-02-0${date}T00:00:00Z`;
const at = (date: number) => Date.UTC(2026, 1, date) / 1_000;

describe('the chart of a report', () => {
  it('has a line for each value of the first dimension that is no time, the largest first', () => {
    const gatherer = chartGatherer(columns('DeviceOrProxy', 'Day', 'PlacementId', 'Clicks', 'Revenue'));
    gatherer.add(['Phone', day(2), '1', '3', '0.500000']);
    gatherer.add(['Phone', day(2), '2', '4', '0.250000']);
    gatherer.add([null, day(1), '1', '10', '0.000000']);
    gatherer.add(['Phone', day(1), '1', null, '1.000000']);
    expect(gatherer.chart('Clicks')).toEqual({
      metric: 'Clicks',
      times: [at(1), at(2)],
      by: 'DeviceOrProxy',
      isTooManyValues: false,
      series: [
        { value: null, total: 10, points: [10, null] },
        { value: 'Phone', total: 7, points: [0, 7] },
      ],
    });
    expect(gatherer.chart('Revenue').series[0]).toEqual({ value: 'Phone', total: 1.75, points: [1, 0.75] });
  });

  it('has one line where there is no other dimension', () => {
    const gatherer = chartGatherer(columns('Day', 'Clicks'));
    gatherer.add([day(1), '3']);
    expect(gatherer.chart('Clicks')).toMatchObject({
      by: undefined,
      series: [{ value: undefined, total: 3, points: [3] }],
    });
  });

  it('has no time where the report has none', () => {
    const gatherer = chartGatherer(columns('PlacementId', 'Clicks'));
    gatherer.add(['1', '3']);
    gatherer.add(['2', '4']);
    expect(gatherer.chart('Clicks')).toMatchObject({
      times: [],
      by: 'PlacementId',
      series: [
        { value: '2', total: 4 },
        { value: '1', total: 3 },
      ],
    });
  });

  it('draws by the hour where there are hours and days', () => {
    const gatherer = chartGatherer(columns('Day', 'DateTime', 'Clicks'));
    gatherer.add([day(1), '2026-02-01T05:00:00Z', '1']);
    expect(gatherer.chart('Clicks').times).toEqual([at(1) + 5 * 3_600]);
  });

  it('adds up the values beyond the seven largest as one line', () => {
    const gatherer = chartGatherer(columns('Day', 'PlacementId', 'Clicks'));
    for (let id = 1; id <= 10; id++) gatherer.add([day(1), String(id), String(id)]);
    const { series } = gatherer.chart('Clicks');
    expect(series.map(({ value }) => value)).toEqual(['10', '9', '8', '7', '6', '5', '4', undefined]);
    expect(series.at(-1)).toEqual({ value: undefined, others: 3, total: 6, points: [6] });
  });

  it('draws one line where there are too many values to split by', () => {
    const gatherer = chartGatherer(columns('Day', 'PlacementId', 'Clicks'));
    for (let id = 0; id < 30_000; id++) gatherer.add([day(1), String(id), '1']);
    expect(gatherer.chart('Clicks')).toEqual({
      metric: 'Clicks',
      times: [at(1)],
      by: undefined,
      isTooManyValues: true,
      series: [{ value: undefined, total: 30_000, points: [30_000] }],
    });
  });
});
