import { expect, it } from 'vitest';
import { reportAnswers } from '../../../page/src/reader/report-answers.ts';
import { PUBLISHER, stored } from './stored.ts';

const file = new Blob([]);
const answersOf = (fields: string, rows: (string | null)[][]) =>
  reportAnswers(
    PUBLISHER,
    { now: stored(fields, rows), reading: { rowCount: rows.length, bytes: 1 }, file },
    { view: { search: '' }, chart: {} },
  );

it('the answers about a report are also possible if the report has no rows or no metric', () => {
  expect(answersOf('Day Clicks', []).done).toMatchObject({
    totals: [{ sum: '0' }],
    chart: { times: [], series: [{ total: 0, points: [] }] },
    view: { rowCount: 0, totals: [null, '0'] },
  });
  const { done } = answersOf('DeviceOrProxy', [['a']]);
  expect(done).toMatchObject({ totals: [], splits: [{ name: 'DeviceOrProxy', valueCount: 1 }] });
  expect(done).not.toHaveProperty('chart');
});
