import { pyarrow } from './column-types.ts';
import type { FileFault } from './lake-facts.ts';

/** A struct of Thrift: its fields by their numbers, which are those of the format's `parquet.thrift`. */
// biome-ignore lint/suspicious/noExplicitAny: only its number says what a field is.
export type Struct = Readonly<Record<`field_${number}`, any>>;

const PHYSICAL = 'BOOLEAN INT32 INT64 INT96 FLOAT DOUBLE BYTE_ARRAY FIXED_LEN_BYTE_ARRAY'.split(' ');

const REPEATED = 2;

/** The words for a column's type, for example `INT64 TIMESTAMP(MICROS,UTC)` or `BYTE_ARRAY`. */
export function wordsOf(element: Struct): string {
  const { field_1: type, field_3: repetition, field_6: older, field_10: logical } = element;
  if (element['field_5'] > 0 || type === undefined || repetition === REPEATED) return 'nested';
  // A file may have both forms of the annotation. The older one can't say whether times are in UTC.
  const both = [logical && annotationOf(logical), older !== undefined && olderAnnotationOf(older, element)];
  const [one, other = one]: string[] = both.filter(Boolean);
  const isOne = one?.replace(',UTC', '') === other?.replace(',UTC', '');
  return [PHYSICAL[type] ?? `type ${type}`, one, !isOne && other].filter(Boolean).join(' ');
}

const LOGICAL = [
  ...' STRING MAP LIST ENUM DECIMAL DATE TIME TIMESTAMP  INT UNKNOWN JSON BSON UUID FLOAT16'.split(' '),
];

/** The annotation in the union LogicalType. */
function annotationOf(logical: Struct): string {
  const [[field, value] = ['', {}]] = Object.entries(logical);
  const number = Number(field.replace('field_', ''));
  const name = LOGICAL[number] || `annotation ${number}`;
  if (name === 'DECIMAL') return `DECIMAL(${value.field_2},${value.field_1})`;
  if (name === 'INT') return `${value.field_2 ? '' : 'U'}INT(${value.field_1})`;
  if (name !== 'TIMESTAMP') return name;
  const unit = ['', 'MILLIS', 'MICROS', 'NANOS'].find((_, id) => value.field_2[`field_${id}`]);
  return `TIMESTAMP(${unit}${value.field_1 ? ',UTC' : ''})`;
}

const OLDER = [
  ...'STRING MAP MAP LIST ENUM DECIMAL DATE TIME TIME TIMESTAMP(MILLIS) TIMESTAMP(MICROS)'.split(' '),
  ...'UINT(8) UINT(16) UINT(32) UINT(64) INT(8) INT(16) INT(32) INT(64) JSON BSON INTERVAL'.split(' '),
];

/** The annotation in the older enum ConvertedType. */
function olderAnnotationOf(older: number, { field_7: scale, field_8: digits }: Struct): string {
  const name = OLDER[older] ?? `older annotation ${older}`;
  return name === 'DECIMAL' ? `DECIMAL(${digits},${scale ?? 0})` : name;
}

export const CODECS = 'UNCOMPRESSED SNAPPY GZIP LZO BROTLI LZ4 ZSTD LZ4_RAW'.split(' ');

const NEWEST_ENCODING = 9;

/** Why DuckDB can't read a column chunk. Undefined if it can. */
export function formatFault({ field_1: file, field_3: data, field_8: key }: Struct): FileFault | undefined {
  if (key || !data) return ENCRYPTED;
  if (file) return fails('its records lie in other files', 'Name those files instead');
  const { field_2: encodings, field_4: codec } = data;
  const packed = CODECS[codec] ?? `codec ${codec}`;
  if (packed === 'LZ4')
    return fails(
      'it is compressed with LZ4 in the form of Hadoop, which DuckDB does not read',
      `${pyarrow("pq.write_table(pq.read_table('in.parquet'), 'out.parquet')")} makes a file that it reads`,
    );
  if (packed === 'LZO' || !CODECS[codec])
    return fails(`it is compressed with ${packed}, which DuckDB does not read`);
  const encoding = (encodings as number[]).find((number) => number > NEWEST_ENCODING);
  if (encoding !== undefined) return fails(`it has the encoding ${encoding}, which DuckDB does not read`);
  return undefined;
}

export const fails = (found: string, cure?: string): FileFault => ({
  severity: 'fails',
  found,
  ...(cure && { cure }),
});

export const ENCRYPTED = fails(
  'it is encrypted',
  'Write it without encryption, with a program that has its key',
);
