import type { ColumnType } from '../lib/report/tables.ts';
import type { FileFault } from './lake-facts.ts';

/** What becomes of a column: the engines read it as it is, `convert` makes the contract's type of it, or neither. */
interface Verdict {
  readonly how?: string;
  /** What to do if neither. COLUMN stands for the column's name. */
  readonly cure?: string;
}

const AS_IT_IS: Verdict = {};

const WHOLE = { how: 'it takes whole numbers within 64 bits and refuses the rest' };
const AMOUNT = { how: 'it keeps every digit, or refuses more than six places. --round rounds them' };
const MEANT = {
  how: 'it writes the amount that the float was meant to be, and refuses more than six places. --round rounds them',
};
const SINCE = {
  how: 'it judges by the whole column what the numbers count since 1970, and says so. --time-unit decides it',
};
const WRITTEN = {
  how: 'it takes YYYY-MM-DD hh:mm:ss with or without a zone. Where there is none it takes UTC; --time-zone names another',
};
const MIDNIGHT = {
  how: 'the records get the midnight of their day. If there were hours, they are lost already',
};
const TEXT = { how: 'it writes text' };
const UTF8 = { how: 'it writes text, and refuses what is no UTF-8' };

const NO_TIME = { cure: 'Write timestamps' };
const NO_WHOLE = { cure: 'Write whole numbers' };
const NO_TEXT = { cure: 'Write text' };
const NO_AMOUNT = { cure: 'Write decimals' };
const MINUTES_AWAY = {
  cure: 'A single float is minutes away from the time that it stands for. Write integers or timestamps',
};
const HALF = {
  cure: 'A half float holds whole numbers to 2,048 only and three digits of others, so its values may be others already. Write integers or decimals at the source',
};
const NESTED = { cure: 'Write the file again with a plain column: lists and structs have no meaning here' };
const OTHER = { cure: 'Write the file again with a plain type of Parquet' };

/** A line for a shell: a program that makes `out.parquet` of `in.parquet`. */
const pyarrow = (program: string): string =>
  `\`python3 -c "import pyarrow as pa, pyarrow.parquet as pq; ${program}"\``;

/** DuckDB reads such a decimal as another number, and Athena has no type for it. */
const TOO_WIDE = {
  cure: `No engine here reads decimals of more than 38 digits. ${pyarrow(
    "n = 'COLUMN'; t = pq.read_table('in.parquet'); s = min(t.schema.field(n).type.scale, 20); c = t[n].cast(pa.decimal128(38, s)); pq.write_table(t.set_column(t.schema.get_field_index(n), n, c), 'out.parquet')",
  )} makes one of 38 digits, or fails if a digit would be lost`,
};

type Row = readonly [words: string, name: string, ...verdicts: readonly Verdict[]];

/**
 * The types of Parquet, and the only place that decides what becomes of each. `words` are the file's own: physical types
 * with their annotations. UNKNOWN is a column whose values are all NULL. Messages show `name`, which is DuckDB's where
 * DuckDB reads the type. The verdicts are in the order of {@link ROLES}. Decimals are below: their words have digits.
 */
const TYPES: readonly Row[] = [
  ['INT32, INT32 INT(32), INT32 UNKNOWN', 'INTEGER', SINCE, AS_IT_IS, TEXT, AMOUNT],
  ['INT32 INT(8)', 'TINYINT', SINCE, AS_IT_IS, TEXT, AMOUNT],
  ['INT32 INT(16)', 'SMALLINT', SINCE, AS_IT_IS, TEXT, AMOUNT],
  ['INT32 UINT(8)', 'UTINYINT', SINCE, AS_IT_IS, TEXT, AMOUNT],
  ['INT32 UINT(16)', 'USMALLINT', SINCE, AS_IT_IS, TEXT, AMOUNT],
  ['INT32 UINT(32)', 'UINTEGER', SINCE, AS_IT_IS, TEXT, AMOUNT],
  ['INT64, INT64 INT(64)', 'BIGINT', SINCE, AS_IT_IS, TEXT, AMOUNT],
  ['INT64 UINT(64)', 'UBIGINT', SINCE, WHOLE, TEXT, AMOUNT],
  ['FLOAT', 'FLOAT', MINUTES_AWAY, WHOLE, NO_TEXT, MEANT],
  ['DOUBLE', 'DOUBLE', SINCE, WHOLE, NO_TEXT, MEANT],
  ['FIXED_LEN_BYTE_ARRAY FLOAT16', 'half float', HALF, HALF, HALF, HALF],
  ['BYTE_ARRAY STRING, BYTE_ARRAY ENUM', 'VARCHAR', WRITTEN, WHOLE, AS_IT_IS, AMOUNT],
  ['BYTE_ARRAY JSON', 'JSON', NO_TIME, NO_WHOLE, TEXT, NO_AMOUNT],
  ['BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY', 'BLOB', NO_TIME, NO_WHOLE, UTF8, NO_AMOUNT],
  ['FIXED_LEN_BYTE_ARRAY UUID', 'UUID', NO_TIME, NO_WHOLE, TEXT, NO_AMOUNT],
  ['BOOLEAN', 'BOOLEAN', NO_TIME, NO_WHOLE, TEXT, NO_AMOUNT],
  ['INT32 DATE', 'DATE', MIDNIGHT, NO_WHOLE, NO_TEXT, NO_AMOUNT],
  ['INT64 TIMESTAMP(MILLIS)', 'TIMESTAMP_MS', AS_IT_IS, NO_WHOLE, NO_TEXT, NO_AMOUNT],
  ['INT64 TIMESTAMP(MICROS)', 'TIMESTAMP', AS_IT_IS, NO_WHOLE, NO_TEXT, NO_AMOUNT],
  ['INT64 TIMESTAMP(NANOS)', 'TIMESTAMP_NS', AS_IT_IS, NO_WHOLE, NO_TEXT, NO_AMOUNT],
  ['INT64 TIMESTAMP(MILLIS,UTC)', 'TIMESTAMP WITH TIME ZONE', AS_IT_IS, NO_WHOLE, NO_TEXT, NO_AMOUNT],
  ['INT64 TIMESTAMP(MICROS,UTC)', 'TIMESTAMP WITH TIME ZONE', AS_IT_IS, NO_WHOLE, NO_TEXT, NO_AMOUNT],
  ['INT64 TIMESTAMP(NANOS,UTC)', 'TIMESTAMP WITH TIME ZONE', AS_IT_IS, NO_WHOLE, NO_TEXT, NO_AMOUNT],
  // The oldest form of times, always in UTC. DuckDB shows it as TIMESTAMP.
  ['INT96', 'INT96', AS_IT_IS, NO_WHOLE, NO_TEXT, NO_AMOUNT],
  ['INT32 TIME, INT64 TIME', 'TIME', NO_TIME, NO_WHOLE, NO_TEXT, NO_AMOUNT],
  ['nested', 'nested', NESTED, NESTED, NESTED, NESTED],
];

const ROLES: readonly ColumnType[] = ['timestamp', 'bigint', 'varchar', 'decimal(18,6)'];

/** The digits that each physical type may have as a decimal. */
const MOST_DIGITS: Readonly<Record<string, number>> = { INT32: 9, INT64: 18 };

/** The name of a type that a file describes in these words. Words that are not in the table are their own name. */
export function typeName(words: string): string {
  const [, physical = '', digits, scale] = /^(\w+) DECIMAL\((\d+),(\d+)\)$/.exec(words) ?? [];
  const [least, most] = [Math.max(1, Number(scale)), MOST_DIGITS[physical] ?? 1_000];
  if (Number(digits) >= least && Number(digits) <= most) return `DECIMAL(${digits},${scale})`;
  return TYPES.find(([known]) => known.split(', ').includes(words))?.[1] ?? words;
}

/** What becomes of a column of the contract's type `type` whose type in the file has this name. */
function verdictOf(type: ColumnType, name: string): Verdict {
  const [, digits = 0, scale] = (/^DECIMAL\((\d+),(\d+)\)$/.exec(name) ?? []).map(Number);
  if (digits > 38) return TOO_WIDE;
  const isContracts = scale === 6 && digits >= 6 && digits <= 18;
  const decimals: Row = ['', name, SINCE, WHOLE, NO_TEXT, isContracts ? AS_IT_IS : AMOUNT];
  const [, , ...verdicts] = digits > 0 ? decimals : (TYPES.find(([, known]) => known === name) ?? []);
  return verdicts[ROLES.indexOf(type)] ?? OTHER;
}

/** What to do about a column that can't become the contract's. Undefined if `convert` can make it so. */
export function cureOf(type: ColumnType, name: string, column: string): string | undefined {
  const named = /^[\w .-]+$/.test(column) ? column : 'the name of the column';
  return verdictOf(type, name).cure?.replace('COLUMN', named);
}

/** What to do about a column that does not fit. @param convert the words for the command that converts it */
export function adviceOf(type: ColumnType, name: string, column: string, convert: string): string {
  const { how } = verdictOf(type, name);
  return cureOf(type, name, column) ?? (how ? `${convert}: ${how}` : convert);
}

/** Whether the engines read a column of the type `name` as the contract's type. */
export const fits = (type: ColumnType, name: string): boolean => verdictOf(type, name) === AS_IT_IS;

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
