/** The page's worker: asks for a report, reads it as it comes, and keeps what totals, charts and downloads need. */
import { fieldOf, reportOf } from '../../lib/report/catalogue.ts';
import { askReport, NoReport } from './ask-report.ts';
import { type Column, chartGatherer } from './chart-data.ts';
import { ExactSum } from './exact-sum.ts';
import { BrokenCsv, type Cell, csvReader } from './read-csv.ts';
import type { ReaderAnswer, ReaderRequest, Reading } from './reader-messages.ts';

/** What the table shows. */
const SHOWN_ROWS = 1_000;

/** A larger file is not read: that would take minutes, and more memory than a phone has. */
const MAX_BYTES = 256_000_000;

/** Pieces are put into a blob by so many bytes: a blob's bytes are not on the heap. */
const BLOB_BYTES = 4_000_000;

const PROGRESS_MS = 250;

let gathered: ReturnType<typeof chartGatherer> | undefined;

const tell = (answer: ReaderAnswer) => postMessage(answer);

addEventListener('message', ({ data }: MessageEvent<ReaderRequest>) => {
  if (data.kind === 'chart') {
    if (gathered) tell({ kind: 'chart', chart: gathered.chart(data.metric) });
  } else void readReport(data).catch((error) => tell({ kind: 'failed', problem: problemFor(error) }));
});

function problemFor(error: unknown) {
  if (error instanceof NoReport) return error.problem;
  return {
    title: 'The download broke off',
    detail:
      error instanceof BrokenCsv
        ? `${error.message} Run the report again.`
        : 'The connection ended before the file did. Run the report again.',
  };
}

async function readReport({ url, token, report, fields }: Extract<ReaderRequest, { kind: 'read' }>) {
  const columns = columnsOf(report, fields);
  const response = await askReport(url, token);
  // Content-Length of a zipped file counts the zipped bytes, not those that are read here.
  const isZipped = response.headers.has('content-encoding');
  const announced = isZipped ? Number.NaN : Number(response.headers.get('content-length') ?? Number.NaN);
  const totalBytes = Number.isFinite(announced) ? announced : undefined;
  tell({ kind: 'began', fileName: fileNameOf(response.url) });

  const gatherer = chartGatherer(columns);
  const sums = columns.flatMap(({ name, field }, index) =>
    field.role === 'metric' ? [{ name, index, sum: new ExactSum(field.type === 'float') }] : [],
  );
  let shown: Cell[][] = [];
  let toldRows = 0;
  let rowCount = -1;
  const csv = csvReader((cells) => {
    if (++rowCount === 0) {
      if (cells.join() !== fields.join())
        throw new BrokenCsv('What came is not the report that was asked for.');
      return;
    }
    if (rowCount <= SHOWN_ROWS) shown.push([...cells]);
    gatherer.add(cells);
    for (const { index, sum } of sums) {
      const text = cells[index];
      if (typeof text === 'string') sum.add(text);
    }
  });

  let bytes = 0;
  const reading = (): Reading => ({
    rowCount: Math.max(rowCount, 0),
    bytes,
    ...(totalBytes !== undefined && { totalBytes }),
  });
  const blobs: Blob[] = [];
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let pieceBytes = 0;
  const toBlob = () => {
    blobs.push(new Blob(pieces));
    pieces = [];
    pieceBytes = 0;
  };
  let toldAt = performance.now();
  const decoder = new TextDecoder();
  const stream = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
  for (;;) {
    const { done, value } = await stream.read();
    if (done) break;
    bytes += value.length;
    csv.read(decoder.decode(value, { stream: true }));
    pieces.push(value);
    pieceBytes += value.length;
    if (pieceBytes >= BLOB_BYTES) toBlob();

    const now = performance.now();
    const isFirst = toldRows === 0 && shown.length > 0;
    const isShownFull = toldRows < SHOWN_ROWS && toldRows + shown.length >= SHOWN_ROWS;
    if (isFirst || isShownFull || now - toldAt > PROGRESS_MS) {
      toldAt = now;
      if (shown.length > 0) {
        tell({ kind: 'rows', rows: shown, reading: reading() });
        toldRows += shown.length;
        shown = [];
      } else tell({ kind: 'progress', reading: reading() });
    }
    if ((totalBytes ?? bytes) > MAX_BYTES && rowCount >= SHOWN_ROWS) {
      await stream.cancel();
      return tell({ kind: 'too-large', reading: reading(), downloadUrl: response.url });
    }
  }
  csv.read(decoder.decode());
  csv.end();
  toBlob();
  if (shown.length > 0) tell({ kind: 'rows', rows: shown, reading: reading() });
  gathered = gatherer;
  const metric = sums[0]?.name;
  tell({
    kind: 'done',
    reading: reading(),
    totals: sums.map(({ name, sum }) => ({ metric: name, sum: String(sum) })),
    file: new Blob(blobs, { type: 'text/csv;charset=utf-8' }),
    ...(metric !== undefined && { chart: gatherer.chart(metric) }),
  });
}

function columnsOf(report: string, fields: readonly string[]): Column[] {
  const asked = reportOf(report);
  return fields.flatMap((name) => {
    const field = asked && fieldOf(asked, name);
    return field ? [{ name, field }] : [];
  });
}

/** The name that the store gives the file, without `.gz`: the browser has unzipped it. */
const fileNameOf = (url: string): string =>
  decodeURIComponent(new URL(url).pathname.split('/').at(-1) || 'report.csv').replace(/\.gz$/, '');
