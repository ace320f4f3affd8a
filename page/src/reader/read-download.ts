import { BrokenCsv, type Cell, csvReader } from './read-csv.ts';
import type { Reading } from './reader-messages.ts';

/** A file that is being read: the progress of the reading, and its end. */
export interface FileBeingRead {
  reading(): Reading;
  /** Resolves at the end of the file, or early when `signal` is aborted. Throws BrokenCsv. */
  readonly ended: Promise<void>;
}

export interface FileListener {
  onRow(cells: readonly Cell[]): void;
  /** Called after each piece of the file, when its rows have gone to `onRow`. */
  onPiece(piece: Uint8Array<ArrayBuffer>): void;
}

/** Reads the rows of a download as it arrives. The first line of the file must hold the requested field names. */
export function readDownload(
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
