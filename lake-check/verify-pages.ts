import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32, zstdDecompressSync } from 'node:zlib';
import { snappyUncompress } from 'hyparquet/src/snappy.js';
import { boundOf, isBelow } from './bounds.ts';
import { CODECS } from './column-types.ts';
import type { Bound, ColumnChunk, FileFault, Footer } from './lake-facts.ts';
import { parse, readFooter } from './read-footers.ts';

/** Files are read in pieces of this size. The header of a page is small, unless it has long texts as bounds. */
const PIECE_BYTES = 2 ** 20;
const HEADER_BYTES = 512;

/** The kinds of pages with values, the older and the newer form. */
const DATA_PAGES = [0, 3];
const DICTIONARY_PAGE = 2;

/** The encodings of pages whose values are all in the dictionary. */
const OF_DICTIONARY = [2, 8];

const CURE =
  'Copy the file again from its source. If the source has the same fault, write the file again there';

/**
 * The first fault in the pages of a Parquet file, which DuckDB would not see. Adds to `ranges` what the dictionaries
 * tell of each row group: by column, the lowest and the highest value.
 */
export async function pageFault(
  path: string,
  footer: Footer,
  ranges: Record<string, unknown>[] = [],
): Promise<FileFault | undefined> {
  const file = openSync(path, 'r');
  try {
    const bytes = bytesOf(file);
    for (const chunk of footer.chunks) {
      const rows = footer.rowGroupRows[chunk.rowGroup] ?? 0;
      const fault = chunkFault(bytes, chunk, rows, ranges[chunk.rowGroup]);
      if (fault) return { severity: 'wrong', found: fault, cure: CURE };
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

/** What is wrong with a column chunk's pages, by their checksums and by the footer's number of values. */
function chunkFault(bytes: Bytes, chunk: ColumnChunk, rows: number, ranges?: Record<string, unknown>) {
  const where = `column ${chunk.column}, row group ${chunk.rowGroup + 1}`;
  let counted = 0;
  let range: ReturnType<typeof dictionaryRange>;
  try {
    for (let at = chunk.start; counted < chunk.values; ) {
      const { struct, length } = headerAt(bytes, at);
      const { field_1: kind, field_2: plainSize, field_3: size, field_4: checksum } = struct;
      const page = struct['field_5'] ?? struct['field_8'];
      at += length;
      if (checksum !== undefined && checksum >>> 0 !== checksumOf(bytes, at, size))
        return `${where}: the checksum of a page is not that of its bytes, so that its values are not those that were written`;
      const count = DATA_PAGES.includes(kind) ? page.field_1 : 0;
      if (!(size >= 0 && count >= 0)) return `${where}: a page is damaged`;
      if (ranges && kind === DICTIONARY_PAGE) range = dictionaryRange(bytes(at, size), plainSize, chunk);
      else if (count > 0 && !OF_DICTIONARY.includes(struct['field_5']?.field_2 ?? page.field_4))
        range = undefined;
      at += size;
      counted += count;
    }
  } catch {
    return `${where}: a page is damaged`;
  }
  const said = chunk.isFlat ? rows : chunk.values;
  const name = chunk.column.toLowerCase();
  if (ranges && range) [ranges[`lowest ${name}`], ranges[`highest ${name}`]] = range;
  if (counted === chunk.values && counted === said) return undefined;
  return `${where}: the pages hold ${counted} values, and the footer says ${said}`;
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

/** Of a larger dictionary, DuckDB finds the lowest and the highest value faster. */
const MOST_BYTES = 8 * 1024;

/**
 * The lowest and the highest value of a dictionary page: no value of its column chunk lies outside. Undefined for types
 * and codecs that it does not read, and for large dictionaries.
 *
 * @param size the bytes of the page when it is not compressed
 */
function dictionaryRange(
  page: Buffer,
  size: number,
  { words, codec }: ColumnChunk,
): readonly [lowest: Bound, highest: Bound] | undefined {
  const isNumber = words.startsWith('INT64');
  const bytes =
    size > MOST_BYTES || !(isNumber || words === 'BYTE_ARRAY STRING')
      ? undefined
      : unpacked(page, size, codec);
  if (bytes?.length !== size) return undefined;
  const bound = boundOf(words);
  const values: Bound[] = [];
  for (let at = 0; at < size; ) {
    const [start, length] = isNumber ? [at, 8] : [at + 4, bytes.readUInt32LE(at)];
    at = start + length;
    const value = bound(bytes.subarray(start, at));
    if (value === undefined || at > size) return undefined;
    values.push(value);
  }
  values.sort((a, b) => (isBelow(a, b) ? -1 : Number(isBelow(b, a))));
  const [lowest, highest] = [values[0], values.at(-1)];
  return lowest === undefined || highest === undefined ? undefined : [lowest, highest];
}

function unpacked(page: Buffer, size: number, codec: number): Buffer | undefined {
  if (CODECS[codec] === 'UNCOMPRESSED') return page;
  if (CODECS[codec] === 'ZSTD') return zstdDecompressSync(page);
  if (CODECS[codec] !== 'SNAPPY') return undefined;
  const output = Buffer.alloc(size);
  snappyUncompress(page, output);
  return output;
}
