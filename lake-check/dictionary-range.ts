import { zstdDecompressSync } from 'node:zlib';
import { snappyUncompress } from 'hyparquet/src/snappy.js';
import { boundOf, isBelow } from './bounds.ts';
import { CODECS } from './file-words.ts';
import type { Bound, ColumnChunk } from './lake-facts.ts';

/** Of a larger dictionary, DuckDB finds the lowest and the highest value faster. */
const MOST_BYTES = 8 * 1024;

/**
 * The lowest and the highest value of a dictionary page: no value of its column chunk lies outside. Undefined for types
 * and codecs that it does not read, and for large dictionaries.
 *
 * @param size the bytes of the page when it is not compressed
 */
export function dictionaryRange(
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
  const [first] = values;
  if (first === undefined) return undefined;
  return [
    values.reduce((lowest, value) => (isBelow(value, lowest) ? value : lowest), first),
    values.reduce((highest, value) => (isBelow(highest, value) ? value : highest), first),
  ];
}

function unpacked(page: Buffer, size: number, codec: number): Buffer | undefined {
  if (CODECS[codec] === 'UNCOMPRESSED') return page;
  if (CODECS[codec] === 'ZSTD') return zstdDecompressSync(page);
  if (CODECS[codec] !== 'SNAPPY') return undefined;
  const output = Buffer.alloc(size);
  snappyUncompress(page, output);
  return output;
}
