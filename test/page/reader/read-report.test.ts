import { describe, expect, it } from 'vitest';
import { BrokenCsv } from '../../../page/src/reader/read-csv.ts';
import { FailedFile, type ReadRequest, readReport } from '../../../page/src/reader/read-report.ts';
import type { ReaderAnswer } from '../../../page/src/reader/reader-messages.ts';
import { reportAnswers } from '../../../page/src/reader/report-answers.ts';
import { day, PUBLISHER, rowsOf, stored } from './stored.ts';

const STORE = 'https://downloads.example/reports';
const request: ReadRequest = {
  kind: 'read',
  look: { view: { search: '' }, chart: {} },
  url: 'now',
  token: 'token',
  report: PUBLISHER,
  fields: ['Day', 'Clicks'],
};
const comparing: ReadRequest = {
  ...request,
  before: { url: 'before', daysLater: new Map([['2026-01-01', '2026-02-01']]) },
};

const HEADER = '"Day","Clicks"\n';
const csv = (...rows: [string, number][]) =>
  HEADER + rows.map(([instant, clicks]) => `"${instant}",${clicks}\n`).join('');

/** A download of these pieces. Without `size`, the download store does not report the size of the file. */
function download(name: string, pieces: readonly string[], size?: number, onCancel = () => {}): Response {
  const bytes = pieces.map((piece) => new TextEncoder().encode(piece));
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = bytes.shift();
      if (piece) controller.enqueue(piece);
      else controller.close();
    },
    cancel: onCancel,
  });
  const response = new Response(body, { headers: size === undefined ? {} : { 'content-length': `${size}` } });
  Object.defineProperty(response, 'url', { value: `${STORE}/${name}.csv?signature=1` });
  return response;
}

async function read(asked: ReadRequest, answers: Readonly<Record<string, () => Response>>) {
  const told: ReaderAnswer[] = [];
  const ask = async (url: string, token: string) => {
    expect(token).toBe('token');
    return answers[url]?.() ?? Promise.reject(new Error(`nobody asks for ${url}`));
  };
  const report = await readReport(asked, ask, (answer) => told.push(answer));
  return { told, report, kinds: told.map(({ kind }) => kind) };
}

const rowsIn = (told: readonly ReaderAnswer[]) =>
  told.flatMap((answer) => (answer.kind === 'rows' ? answer.rows : []));
const many = csv(...Array.from({ length: 1_500 }, (_, index): [string, number] => [day(1), index]));

describe('reading a report', () => {
  it('sends the file’s name and first rows, and keeps the file’s bytes', async () => {
    const text = csv([day(1), 3], [day(2), 4]);
    const { told, report } = await read(request, {
      now: () => download('publisher', [text.slice(0, 30), text.slice(30, 50), text.slice(50)], text.length),
    });
    expect(told[0]).toEqual({ kind: 'began' });
    expect(rowsIn(told)).toEqual(rowsOf('d1 3; d2 4'));
    expect(report?.reading).toEqual({ rowCount: 2, bytes: text.length, totalBytes: text.length });
    expect(await report?.file.text()).toBe(text);
    expect(report?.file.type).toBe('text/csv;charset=utf-8');
    expect(report?.now.rowCount).toBe(2);
    expect(report).not.toHaveProperty('before');
  });

  it('sends at most a thousand rows', async () => {
    const { told, report } = await read(request, {
      now: () => download('x', [HEADER, many.slice(HEADER.length)]),
    });
    expect(rowsIn(told)).toHaveLength(1_000);
    expect(report?.now.rowCount).toBe(1_500);
  });

  it('also reads the period before, and moves it to the days that it is compared with', async () => {
    const [nowText, beforeText] = [csv([day(1), 3]), csv([day(1, 1), 2])];
    const { told, report } = await read(comparing, {
      now: () => download('now', [nowText], nowText.length),
      before: () => download('before', [beforeText], beforeText.length),
    });
    expect(told[0]).toEqual({ kind: 'began' });
    expect(report?.reading).toEqual({ rowCount: 1, bytes: nowText.length, totalBytes: nowText.length });
    expect(await report?.file.text()).toBe(nowText);
    if (!report) throw new Error('There is a report.');
    const { done, answer } = reportAnswers(PUBLISHER, report, { view: { search: '' }, chart: {} });
    const ids = ['Day', 'Clicks', 'Clicks before', 'Clicks change', 'Clicks change %'];
    expect(done.columns.map(({ id }) => id)).toEqual(ids);
    const rows = rowsOf('d1 3 2 1 50.00');
    expect(answer({ kind: 'rows', from: 0, to: 10 })).toEqual({
      ...{ kind: 'view-rows', view: { search: '' }, from: 0, rows },
    });
  });

  it('ends if both files together are too large, and keeps neither file', async () => {
    const cancelled: string[] = [];
    const { told, report, kinds } = await read(comparing, {
      now: () => download('now', [many, '"x', '"y'], 156_000_000, () => cancelled.push('now')),
      before: () => download('before', [csv([day(1, 1), 2])], 100_000_001),
    });
    expect(report).toBeUndefined();
    expect(kinds.filter((kind) => kind === 'too-large')).toHaveLength(1);
    expect(kinds.at(-1)).toBe('too-large');
    expect(cancelled).toContain('now');
    expect(rowsIn(told)).toHaveLength(1_000);
    expect(told.at(-1)).toMatchObject({
      reading: { totalBytes: 256_000_001 },
      downloadUrl: `${STORE}/now.csv?signature=1`,
    });
  });

  it('reports no failure after it has reported that the files are too large', async () => {
    const told: ReaderAnswer[] = [];
    const { promise, reject } = Promise.withResolvers<Response>();
    const ask = async (url: string) => (url === 'now' ? download('now', [many], 256_000_001) : promise);
    const report = await readReport(comparing, ask, (answer) => {
      told.push(answer);
      if (answer.kind === 'too-large') reject(new Error('The connection broke.'));
    });
    expect(report).toBeUndefined();
    expect(told.at(-1)?.kind).toBe('too-large');
  });

  it('succeeds if both files together have the largest allowed size', async () => {
    const { report } = await read(comparing, {
      now: () => download('now', [csv([day(1), 1])], 156_000_000),
      before: () => download('before', [csv([day(1, 1), 2])], 100_000_000),
    });
    expect(report?.before?.rowCount).toBe(1);
  });

  // Each row has the pieces of the file and of the file of the period before. Without pieces, the service has no report.
  it.each<[string, string[] | undefined, string[] | undefined, boolean, unknown]>([
    ['the service has no report', undefined, [HEADER], false, Error],
    ['the file is another report', ['"Day"\n'], [HEADER], false, BrokenCsv],
    ['the file ends in the middle of a row', [HEADER, '"x'], [HEADER], false, BrokenCsv],
    ['a metric of the file is no number', [HEADER, '"x",y\n'], [HEADER], false, BrokenCsv],
    ['the service has no report of the period before', [HEADER], undefined, true, Error],
    ['the file of the period before ends in the middle of a row', [HEADER], ['"Day'], true, BrokenCsv],
  ])('rejects, and says which file failed: %s', async (_, now, before, isBefore, cause) => {
    const failure = await read(comparing, {
      ...(now && { now: () => download('n', now) }),
      ...(before && { before: () => download('b', before) }),
    }).catch((error) => error);
    expect(failure).toBeInstanceOf(FailedFile);
    expect(failure.isBefore).toBe(isBefore);
    expect(failure.cause).toBeInstanceOf(cause);
  });
});

it('the answers about a report are also possible if the report has no rows or no metric', () => {
  const answersOf = (fields: string, rows: (string | null)[][]) =>
    reportAnswers(
      PUBLISHER,
      { now: stored(fields, rows), reading: { rowCount: rows.length, bytes: 1 }, file: new Blob([]) },
      request.look,
    );
  expect(answersOf('Day Clicks', []).done).toMatchObject({
    totals: [{ sum: '0' }],
    chart: { times: [], series: [{ total: 0, points: [] }] },
    view: { rowCount: 0, totals: [null, '0'] },
  });
  const { done } = answersOf('DeviceOrProxy', [['a']]);
  expect(done).toMatchObject({ totals: [], splits: [{ name: 'DeviceOrProxy', valueCount: 1 }] });
  expect(done).not.toHaveProperty('chart');
});
