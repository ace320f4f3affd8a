import { describe, expect, it } from 'vitest';
import { reportAnswers } from '../../../page/src/reader/report-answers.ts';
import { day, PUBLISHER, rowsOf, stored } from './stored.ts';

const file = new Blob([]);
const answersOf = (fields: string, rows: (string | null)[][]) =>
  reportAnswers(
    PUBLISHER,
    { now: stored(fields, rows), reading: { rowCount: rows.length, bytes: 1 }, file },
    { view: { search: '' }, chart: {} },
  );

describe('the answers about a report', () => {
  const { done, answer } = answersOf(
    'Day DeviceOrProxy Clicks ServedAds',
    rowsOf('d1 b 1 10; d1 a 9007199254740993 0; d2 a 3 30'),
  );

  it('begin with all that the page shows first', () => {
    expect(done).toEqual({
      kind: 'done',
      reading: { rowCount: 3, bytes: 1 },
      file,
      columns: [
        { id: 'Day', kind: 'dimension', of: 'Day' },
        { id: 'DeviceOrProxy', kind: 'dimension', of: 'DeviceOrProxy' },
        { id: 'Clicks', kind: 'metric', of: 'Clicks' },
        { id: 'ServedAds', kind: 'metric', of: 'ServedAds' },
        { id: 'CTR', kind: 'ratio', of: 'CTR' },
      ],
      tableRows: 3,
      totals: [
        { of: 'Clicks', kind: 'metric', sum: '9007199254740997' },
        { of: 'ServedAds', kind: 'metric', sum: '40' },
        // CTR is 100 * 9007199254740997 / 40.
        { of: 'CTR', kind: 'ratio', sum: '22517998136852492.500000' },
      ],
      splits: [{ name: 'DeviceOrProxy', valueCount: 2 }],
      axes: ['time', 'all', 'weekdays'],
      chart: {
        metric: 'Clicks',
        axis: 'time',
        times: [Date.UTC(2026, 1, 1) / 1_000, Date.UTC(2026, 1, 2) / 1_000],
        by: 'DeviceOrProxy',
        isBars: false,
        series: [
          { value: 'a', total: 2 ** 53 + 4, points: [2 ** 53, 3] },
          { value: 'b', total: 1, points: [1, undefined] },
        ],
        whole: 2 ** 53 + 5,
      },
      view: {
        view: { search: '' },
        rowCount: 3,
        totals: [null, null, '9007199254740997', '40', '22517998136852492.500000'],
      },
    });
  });

  it('are views, rows of the newest view, and charts, as the page requests them', () => {
    expect(answer({ kind: 'rows', from: 0, to: 1 })).toMatchObject({
      rows: [[day(1), 'b', '1', '10', '10.000000']],
    });
    const view = { sort: { column: 'Clicks', isDescending: true }, search: 'A', top: 1 };
    expect(answer({ kind: 'view', view })).toEqual({
      kind: 'view',
      result: { view, rowCount: 1, totals: [null, null, '9007199254740993', '0', null] },
    });
    expect(answer({ kind: 'rows', from: 0, to: 5 })).toEqual({
      kind: 'view-rows',
      view,
      from: 0,
      rows: [[day(1), 'a', '9007199254740993', '0', null]],
    });
    expect(answer({ kind: 'chart', question: { metric: 'CTR', by: null } })).toMatchObject({
      kind: 'chart',
      chart: { metric: 'CTR', series: [{ points: [(100 * 2 ** 53) / 10, 10] }] },
    });
  });

  it('are also possible if the report has no rows or no metric', () => {
    expect(answersOf('Day Clicks', []).done).toMatchObject({
      totals: [{ sum: '0' }],
      chart: { times: [], series: [{ total: 0, points: [] }] },
      view: { rowCount: 0, totals: [null, '0'] },
    });
    const { done } = answersOf('DeviceOrProxy', [['a']]);
    expect(done).toMatchObject({ totals: [], splits: [{ name: 'DeviceOrProxy', valueCount: 1 }] });
    expect(done).not.toHaveProperty('chart');
  });
});
