import { type ColumnStore, columnStore, columnsOf, storeBefore } from './column-store.ts';
import { firstRowsTeller } from './first-rows-teller.ts';
import { piecesToBlob } from './pieces-to-blob.ts';
import { type FileBeingRead, type FileListener, readDownload } from './read-download.ts';
import type { ReaderAnswer, ReaderRequest, Reading } from './reader-messages.ts';

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
