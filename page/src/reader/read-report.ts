import { type ColumnStore, columnStore, columnsOf, storeBefore } from './column-store.ts';
import { BrokenCsv, type Cell, csvReader } from './read-csv.ts';
import type { ReaderAnswer, ReaderRequest, Reading } from './reader-messages.ts';
import { piecesToBlob } from './spreadsheet.ts';

/** The number of rows that the table shows while the file is being read, or if the file is too large to read. */
const SHOWN_ROWS = 1_000;
const PROGRESS_MS = 250;

/**
 * Sends the first rows of a file to the page as they arrive, the very first at once. After SHOWN_ROWS rows, sends only
 * the progress of the reading. Sends only a few messages a second.
 */
function firstRowsTeller(tell: (answer: ReaderAnswer) => void, reading: () => Reading) {
  let untold: Cell[][] = [];
  let toldRows = 0;
  let answeredAt = performance.now();
  const tellRows = () => {
    tell({ kind: 'rows', rows: untold, reading: reading() });
    toldRows += untold.length;
    untold = [];
  };
  return {
    onRow(cells: readonly Cell[]): void {
      if (toldRows + untold.length < SHOWN_ROWS) untold.push([...cells]);
    },
    onPiece(): void {
      const isFirst = toldRows === 0 && untold.length > 0;
      const isLast = untold.length > 0 && toldRows + untold.length === SHOWN_ROWS;
      const now = performance.now();
      if (!isFirst && !isLast && now - answeredAt <= PROGRESS_MS) return;
      answeredAt = now;
      tellRows();
    },
    onEnd: () => untold.length > 0 && tellRows(),
    /** Whether all SHOWN_ROWS rows have been sent. */
    isDone: (): boolean => toldRows === SHOWN_ROWS,
  };
}

/** A file that is being read: the progress of the reading, and its end. */
interface FileBeingRead {
  reading(): Reading;
  /** Resolves at the end of the file, or early when `signal` is aborted. Throws BrokenCsv. */
  readonly ended: Promise<void>;
}

interface FileListener {
  onRow(cells: readonly Cell[]): void;
  /** Called after each piece of the file, when its rows have gone to `onRow`. */
  onPiece(piece: Uint8Array<ArrayBuffer>): void;
}

/** Reads the rows of a download as it arrives. The first line of the file must hold the requested field names. */
function readDownload(
  response: Response,
  fields: readonly string[],
  { onRow, onPiece }: FileListener,
  signal: AbortSignal,
): FileBeingRead {
  const totalBytes = announcedBytes(response.headers);
  let rowCount = -1;
  let bytes = 0;
  const csv = csvReader((cells) => {
    if (++rowCount > 0) return onRow(cells);
    if (cells.join() !== fields.join())
      throw new BrokenCsv('What came is not the report that was asked for.');
  });
  const read = async () => {
    const decoder = new TextDecoder();
    const stream = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
    for (;;) {
      const { done, value } = await stream.read();
      if (signal.aborted) return stream.cancel();
      if (done) break;
      bytes += value.length;
      csv.read(decoder.decode(value, { stream: true }));
      onPiece(value);
    }
    csv.read(decoder.decode());
    csv.end();
  };
  return {
    reading: () => ({
      rowCount: Math.max(rowCount, 0),
      bytes,
      ...(totalBytes !== undefined && { totalBytes }),
    }),
    ended: read(),
  };
}

/**
 * The size of the file; undefined if it is not known. For a gzipped file it is not known, because `Content-Length` then
 * counts gzipped bytes.
 */
function announcedBytes(headers: Headers): number | undefined {
  if (headers.has('content-encoding')) return undefined;
  const announced = Number(headers.get('content-length') ?? Number.NaN);
  return Number.isFinite(announced) ? announced : undefined;
}

/**
 * The page reads a report of at most this many bytes. In a comparison, this is the limit of both files together. Larger
 * files would take minutes, and more memory than a phone has.
 */
const MAX_BYTES = 256_000_000;

export type ReadRequest = Extract<ReaderRequest, { kind: 'read' }>;

/** A report that has been read to its end and, in a comparison, the period before. */
export interface ReadReport {
  readonly now: ColumnStore;
  readonly before?: ColumnStore;
  readonly reading: Reading;
  /** The bytes of the report's file, without the period before. */
  readonly file: Blob;
}

/** One of the files could not be read: the report's file, or the file of the period before. */
export class FailedFile extends Error {
  readonly isBefore: boolean;

  constructor(isBefore: boolean, cause: unknown) {
    super('A file could not be read.', { cause });
    this.isBefore = isBefore;
  }
}

/**
 * Asks for a report and, at the same time, for the period before. Reads both files as they arrive. If they are too
 * large, sends `too-large` and resolves to undefined. Throws FailedFile.
 */
export async function readReport(
  { url, token, report, fields, before: asked }: ReadRequest,
  ask: (url: string, token: string) => Promise<Response>,
  tell: (answer: ReaderAnswer) => void,
): Promise<ReadReport | undefined> {
  const stop = new AbortController();
  const now = columnStore(columnsOf(report, fields));
  const before = asked && storeBefore(now, asked.daysLater);
  const files: FileBeingRead[] = [];
  const reading = () => together(files, asked ? 2 : 1);
  const firstRows = firstRowsTeller(tell, reading);
  const bytes = piecesToBlob('text/csv;charset=utf-8');
  let isTooLarge = false;
  let isNowRead = false;
  let downloadUrl = '';

  const onPiece = () => {
    firstRows.onPiece();
    isTooLarge ||= sizeOf(files) > MAX_BYTES;
    // If the files are too large, the reading goes on until the first rows have been sent.
    if (!isTooLarge || stop.signal.aborted || !(firstRows.isDone() || isNowRead)) return;
    stop.abort();
    tell({ kind: 'too-large', reading: reading(), downloadUrl });
  };
  const read = async (response: Response, listener: FileListener) => {
    const file = readDownload(response, fields, listener, stop.signal);
    files.push(file);
    await file.ended;
    return file;
  };
  const readNow = async () => {
    const response = await ask(url, token);
    downloadUrl = response.url;
    tell({ kind: 'began' });
    const file = await read(response, {
      onRow(cells) {
        firstRows.onRow(cells);
        if (!isTooLarge) now.add(cells);
      },
      onPiece(piece) {
        bytes.add(piece);
        onPiece();
      },
    });
    isNowRead = true;
    if (!stop.signal.aborted) firstRows.onEnd();
    return file.reading();
  };
  const readBefore = async () => {
    if (!asked || !before) return;
    const onRow: ColumnStore['add'] = (cells) => {
      if (!isTooLarge) before.add(cells);
    };
    await read(await ask(asked.url, token), { onRow, onPiece });
  };
  const failing = (isBefore: boolean) => (cause: unknown) => {
    if (stop.signal.aborted) return undefined;
    stop.abort();
    throw new FailedFile(isBefore, cause);
  };
  const [ownReading] = await Promise.all([
    readNow().catch(failing(false)),
    readBefore().catch(failing(true)),
  ]);
  if (stop.signal.aborted || !ownReading) return undefined;
  return { now, ...(before && { before }), reading: ownReading, file: bytes.whole() };
}

const sizeOf = (files: readonly FileBeingRead[]): number =>
  files.map((file) => file.reading()).reduce((sum, { bytes, totalBytes }) => sum + (totalBytes ?? bytes), 0);

/** The progress over all files. Their total size is not known before the answer for the last file has arrived. */
function together(files: readonly FileBeingRead[], fileCount: number): Reading {
  const readings = files.map((file) => file.reading());
  const sum = (of: (reading: Reading) => number) => readings.reduce((total, one) => total + of(one), 0);
  const totalBytes = sum(({ totalBytes = Number.NaN }) => totalBytes);
  return {
    rowCount: sum(({ rowCount }) => rowCount),
    bytes: sum(({ bytes }) => bytes),
    ...(files.length === fileCount && !Number.isNaN(totalBytes) && { totalBytes }),
  };
}
