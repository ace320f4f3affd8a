import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import { quoteText } from '../lib/report/quote-sql.ts';
import { statisticsOf } from './bounds.ts';
import { CODECS, ENCRYPTED, fails, formatFault, type Struct, typeName, wordsOf } from './column-types.ts';
import type { ColumnChunk, FileFault, Footer } from './lake-facts.ts';

/** A Parquet file to read, by its path on this machine; `id` is the caller's own name for it. */
export interface LocalFile {
  readonly id: string;
  readonly path: string;
}

/** A path as a glob pattern that matches only this path. */
export const escapeGlob = (path: string): string => path.replaceAll(/[*?[]/g, '[$&]');

export const pathList = (files: readonly LocalFile[]): string =>
  `[${files.map(({ path }) => quoteText(escapeGlob(path))).join(', ')}]`;

/** Reads the footers of Parquet files. A file that can't be read maps to its fault. */
export async function readFooters(files: readonly LocalFile[]): Promise<Map<string, Footer | FileFault>> {
  const footers = new Map<string, Footer | FileFault>();
  for (const { id, path } of files) {
    footers.set(id, readFooter(path));
    // Other work runs in between. The calls are synchronous, because asynchronous ones take several times as long.
    await nextTurn();
  }
  return footers;
}

/** Holds one footer at a time, read from the end of a file. Few are larger. */
const shared = Buffer.alloc(64 * 1024);

/** The end of a Parquet file: the footer's length in four bytes, little endian, and `PAR1`. */
const TAIL_BYTES = 8;

const NO_PARQUET = fails('it is not a Parquet file, or not a whole one');

/** The facts in a Parquet file's footer, or why the file can't be read. */
export function readFooter(path: string): Footer | FileFault {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const opened = file;
    const { size } = fstatSync(opened);
    const last = (bytes: number) => {
      const length = Math.min(bytes, size);
      const buffer = length > shared.length ? Buffer.alloc(length) : shared;
      return buffer.subarray(0, readSync(opened, buffer, 0, length, size - length));
    };
    const tail = last(shared.length);
    const mark = tail.toString('latin1', tail.length - 4);
    if (mark === 'PARE') return ENCRYPTED;
    if (mark !== 'PAR1' || size < TAIL_BYTES) return NO_PARQUET;
    const end = tail.readUInt32LE(tail.length - TAIL_BYTES) + TAIL_BYTES;
    if (end > size) return NO_PARQUET;
    const bytes = end > tail.length ? last(end) : tail;
    return footerOf(parse(bytes.subarray(bytes.length - end)).struct);
  } catch (error) {
    const { syscall, code } = error as NodeJS.ErrnoException;
    return syscall ? fails(`it can't be read (${code})`) : NO_PARQUET;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Reads the struct of Thrift at the beginning of `bytes`, and how many bytes it takes. */
export function parse(bytes: Buffer): { readonly struct: Struct; readonly length: number } {
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  const struct = deserializeTCompactProtocol(reader);
  return { struct, length: reader.offset };
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

function footerOf({ field_2: schema, field_4: groups, field_8: encryption }: Struct): Footer | FileFault {
  if (encryption) return ENCRYPTED;
  const rowGroupRows = (groups as Struct[]).map(({ field_3: count }) => Number(count));
  const parts = (groups as Struct[]).flatMap(({ field_1: chunks }, rowGroup) =>
    (chunks as Struct[]).map((chunk) => ({ chunk, rowGroup })),
  );
  for (const { chunk } of parts) {
    const fault = formatFault(chunk);
    if (fault) return fault;
  }
  const columns = topLevel(schema).map((element) => {
    const name = textOf(element['field_4']);
    return { name, lower: name.toLowerCase(), words: wordsOf(element) };
  });
  const lower = columns.map((column) => column.lower);
  const words = new Map(columns.map((column) => [column.name, column.words]));
  const chunks = parts.map(({ chunk, rowGroup }) => chunkOf(chunk, rowGroup, words));
  const flat = Map.groupBy(parts, (_, index) => (chunks[index]?.isFlat ? chunks[index].column : undefined));
  const bounds = ({ name, words }: (typeof columns)[0]) =>
    statisticsOf(words, flat.get(name)?.map(({ chunk }) => chunk['field_3'].field_12 ?? {}) ?? []);
  return {
    names: columns.map(({ name }) => name),
    types: new Map(columns.map(({ lower, words }) => [lower, typeName(words)])),
    doubledNames: [...new Set(lower.filter((name, index) => lower.indexOf(name) !== index))],
    rows: rowGroupRows.reduce((sum, count) => sum + count, 0),
    rowGroupRows,
    compression: [...new Set(parts.map(({ chunk }) => CODECS[chunk['field_3'].field_4] as string))],
    chunks,
    statistics: new Map(columns.map((column) => [column.lower, bounds(column)])),
  };
}

function chunkOf(
  { field_3: chunk }: Struct,
  rowGroup: number,
  types: ReadonlyMap<string, string>,
): ColumnChunk {
  const { field_3: path, field_4: codec, field_5: values, field_9: data, field_11: dictionary } = chunk;
  // Some writers say 0 if there is no dictionary.
  const start = Number(dictionary > 0 && dictionary < data ? dictionary : data);
  const column = (path as Uint8Array[]).map(textOf).join('.');
  const words = types.get(column) ?? 'nested';
  return { column, isFlat: path.length === 1, rowGroup, start, values: Number(values), words, codec };
}

/** The table's columns in a Parquet schema, which lists each element before its children, the root first. */
function topLevel(elements: readonly Struct[]): Struct[] {
  const columns: Struct[] = [];
  const childrenOf = (at: number) => elements[at]?.['field_5'] ?? 0;
  for (let at = 1; at < elements.length; at++) {
    columns.push(elements[at] as Struct);
    for (let below = childrenOf(at); below > 0; below--) below += childrenOf(++at);
  }
  return columns;
}
