import { crc32 } from 'node:zlib';

/**
 * A value of Thrift's compact protocol: a number is an i32, a bigint an i64, an Int8Array a byte, and an object a
 * struct with its fields by number.
 */
export type Thrift =
  | number
  | bigint
  | boolean
  | string
  | Buffer
  | Int8Array
  | readonly Thrift[]
  | { readonly [field: number]: Thrift | undefined };

const varint = (n: bigint): number[] =>
  n < 0x80n ? [Number(n)] : [Number(n & 0x7fn) | 0x80, ...varint(n >> 7n)];
const zigzag = (n: bigint): Buffer => Buffer.from(varint(BigInt.asUintN(64, (n << 1n) ^ (n >> 63n))));

/** The type's number in the protocol, and the value's bytes. */
function encoded(value: Thrift): readonly [type: number, bytes: Buffer] {
  if (typeof value === 'boolean') return [value ? 1 : 2, Buffer.alloc(0)];
  if (typeof value === 'number') return [5, zigzag(BigInt(value))];
  if (typeof value === 'bigint') return [6, zigzag(value)];
  if (value instanceof Int8Array) return [3, Buffer.from(value)];
  if (typeof value === 'string' || Buffer.isBuffer(value)) {
    const bytes = Buffer.from(value as string);
    return [8, Buffer.concat([Buffer.from(varint(BigInt(bytes.length))), bytes])];
  }
  if (Array.isArray(value)) {
    const elements = value.map(encoded);
    const type = elements[0]?.[0] ?? 12;
    const head = [0xf0 | type, ...varint(BigInt(elements.length))];
    return [9, Buffer.concat([Buffer.from(head), ...elements.map(([, bytes]) => bytes)])];
  }
  const fields = Object.entries(value as Record<string, Thrift | undefined>).flatMap(([id, field]) => {
    if (field === undefined) return [];
    const [type, bytes] = encoded(field);
    return [Buffer.from([type, ...zigzag(BigInt(id))]), bytes];
  });
  return [12, Buffer.concat([...fields, Buffer.from([0])])];
}

/** A column as an odd writer may write it: the schema's element, the statistics and the page need not be true. */
export interface OddColumn {
  readonly name: string;
  /** Fields of SchemaElement: 1 physical type, 2 length, 6 older annotation, 7 scale, 8 precision, 10 annotation. */
  readonly schema: Thrift;
  /** Each value in the encoding PLAIN; null is a NULL. */
  readonly values: readonly (Buffer | null)[];
  /** Fields of Statistics: 1 max, 2 min, 3 NULLs, 5 max_value, 6 min_value. */
  readonly statistics?: Thrift;
  /** Further fields of ColumnMetaData, for example 4: the codec. */
  readonly metadata?: Thrift;
  /** Further fields of ColumnChunk, for example 8: how the column is encrypted. */
  readonly chunk?: Thrift;
  /** Changes the page's bytes before their checksum is computed. */
  readonly packed?: (page: Buffer) => Buffer;
  /** The number of values that the page's header tells, if it is not theirs. */
  readonly count?: number;
  /** Whether a bit of the page flips after its checksum is computed. */
  readonly isFlipped?: boolean;
}

/** A page's values behind their definition levels: a run of the length 1 for each value, and 1 for a value there. */
function pageOf({ values, packed = (page) => page, count = values.length, isFlipped }: OddColumn): Buffer {
  const levels = Buffer.from(values.flatMap((value) => [2, value === null ? 0 : 1]));
  const plain = Buffer.concat([int(levels.length, 4), levels, ...values.filter((value) => value !== null)]);
  const page = packed(plain);
  const [, header] = encoded({
    ...{ 1: 0, 2: plain.length, 3: page.length, 4: crc32(page) | 0 },
    // The levels are in the encoding RLE.
    5: { 1: count, 2: 0, 3: 3, 4: 3 },
  });
  if (isFlipped) page[page.length - 1] = (page.at(-1) ?? 0) ^ 1;
  return Buffer.concat([header, page]);
}

/** The bytes of a Parquet file with these row groups. Each column is one page with a checksum. */
export function oddParquet(...groups: readonly (readonly OddColumn[])[]): Buffer {
  const [columns = []] = groups;
  const parts: Buffer[] = [Buffer.from('PAR1')];
  let at = 4;
  const rowGroups = groups.map((group) => {
    const chunks = group.map((column): Thrift => {
      const page = pageOf(column);
      parts.push(page);
      at += page.length;
      const start = BigInt(at - page.length);
      const { 1: type = 0 } = column.schema as Record<number, Thrift>;
      const size = BigInt(page.length);
      return {
        ...(column.chunk as object),
        2: start,
        3: {
          ...{ 1: type, 2: [0], 3: [column.name], 4: 0, 5: BigInt(column.values.length), 6: size, 7: size },
          ...{ 9: start, 12: column.statistics },
          ...(column.metadata as object),
        },
      };
    });
    return { 1: chunks, 2: 0n, 3: BigInt(group[0]?.values.length ?? 0) };
  });
  const elements = columns.map(({ name, schema }) => ({ 3: 1, 4: name, ...(schema as object) }));
  const rows = rowGroups.reduce((sum, group) => sum + group[3], 0n);
  const root = { 4: 'schema', 5: columns.length };
  const [, footer] = encoded({ 1: 1, 2: [root, ...elements], 3: rows, 4: rowGroups });
  return Buffer.concat([...parts, footer, int(footer.length, 4), Buffer.from('PAR1')]);
}

/** A number in the bytes of INT64, or of another length. */
export const int = (value: bigint | number, bytes = 8): Buffer => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64LE(BigInt(value));
  return buffer.subarray(0, bytes);
};

/** A number with the highest byte first, as in decimals of a fixed length. */
export const highestFirst = (value: bigint, bytes: number): Buffer => {
  const hex = BigInt.asUintN(8 * bytes, value).toString(16);
  return Buffer.from(hex.padStart(2 * bytes, '0'), 'hex');
};

/** Bytes of a varying length. */
export const text = (value: string): Buffer =>
  Buffer.concat([int(Buffer.byteLength(value), 4), Buffer.from(value)]);

/** The elements of a schema that the contract's types have. */
export const SCHEMA = {
  timestamp: { 1: 2, 6: 10, 10: { 8: { 1: false, 2: { 2: {} } } } },
  bigint: { 1: 2 },
  varchar: { 1: 6, 6: 0, 10: { 1: {} } },
  'decimal(18,6)': { 1: 7, 2: 8, 6: 5, 7: 6, 8: 18, 10: { 5: { 1: 6, 2: 18 } } },
} satisfies Record<string, Thrift>;

export const NOON = BigInt(Date.parse('2026-01-31T12:00:00Z')) * 1_000n;
