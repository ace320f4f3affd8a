import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { ColumnChunk, FileFault, Footer } from './lake-facts.ts';
import { parse, readFooter } from './read-footers.ts';

/** Files are read in pieces of this size. The header of a page is small, unless it has long texts as bounds. */
const PIECE_BYTES = 2 ** 20;
const HEADER_BYTES = 512;

/** The kinds of pages with values, the older and the newer form. The other kinds are indexes and dictionaries. */
const DATA_PAGES = [0, 3];

const CURE =
  'Copy the file again from its source. If the source has the same fault, write the file again there';

/**
 * Reads the pages of a Parquet file, and compares their checksums with their bytes, and their number of values with the
 * footer's. DuckDB does neither. Resolves to the first fault. Of pages without a checksum, only the header is read.
 */
export async function pageFault(path: string, footer: Footer): Promise<FileFault | undefined> {
  const file = openSync(path, 'r');
  try {
    const bytes = bytesOf(file);
    for (const chunk of footer.chunks) {
      const found = chunkFault(bytes, chunk, footer.rowGroupRows[chunk.rowGroup] ?? 0);
      if (found) return { severity: 'wrong', found, cure: CURE };
      await nextTurn();
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}

/** The footer of a Parquet file whose pages are whole, or the file's fault. */
export async function readWholeFile(path: string): Promise<Footer | FileFault> {
  const footer = readFooter(path);
  return 'found' in footer ? footer : ((await pageFault(path, footer)) ?? footer);
}

type Bytes = (start: number, length: number) => Buffer;

/** Gives bytes of a file, fewer at its end. They are valid until the next call. */
function bytesOf(file: number): Bytes {
  const { size } = fstatSync(file);
  const buffer = Buffer.alloc(Math.min(size, PIECE_BYTES));
  const read = (start: number, length: number) =>
    buffer.subarray(0, readSync(file, buffer, 0, Math.min(length, buffer.length), start));
  if (size > PIECE_BYTES) return read;
  const all = read(0, size);
  return (start, length) => all.subarray(start, start + length);
}

function chunkFault(bytes: Bytes, chunk: ColumnChunk, rows: number): string | undefined {
  const where = `column ${chunk.column}, row group ${chunk.rowGroup + 1}`;
  try {
    const found = countValues(bytes, chunk);
    if (found === undefined)
      return `${where}: the checksum of a page is not that of its bytes, so that its values are not those that were written`;
    const said = chunk.isFlat ? rows : chunk.values;
    return found === chunk.values && found === said
      ? undefined
      : `${where}: the pages hold ${found} values, and the footer says ${said}`;
  } catch {
    return `${where}: a page is damaged`;
  }
}

/** The number of values in the pages of a column chunk. Undefined if a checksum is wrong. Throws if a header is damaged. */
function countValues(bytes: Bytes, { start, values }: ColumnChunk): number | undefined {
  let found = 0;
  for (let at = start; found < values; ) {
    const { struct, length } = headerAt(bytes, at);
    const { field_1: kind, field_3: size, field_4: checksum, field_5: page, field_8: newerPage } = struct;
    at += length;
    if (checksum !== undefined && checksum >>> 0 !== checksumOf(bytes, at, size)) return undefined;
    const count = DATA_PAGES.includes(kind) ? (page ?? newerPage).field_1 : 0;
    if (!(size >= 0 && count >= 0)) throw new Error('damaged');
    at += size;
    found += count;
  }
  return found;
}

function headerAt(bytes: Bytes, at: number): ReturnType<typeof parse> {
  try {
    return parse(bytes(at, HEADER_BYTES));
  } catch {
    return parse(bytes(at, PIECE_BYTES));
  }
}

function checksumOf(bytes: Bytes, start: number, length: number): number | undefined {
  let checksum = 0;
  for (let done = 0; done < length; ) {
    const piece = bytes(start + done, Math.min(PIECE_BYTES, length - done));
    if (piece.length === 0) return undefined;
    checksum = crc32(piece, checksum);
    done += piece.length;
  }
  return checksum;
}
