import { shellWord } from '../../../lake-check/commands.ts';

/** How a file of a format begins, the format's name, and what makes a file of it that can be read. */
type Format = readonly [begins: RegExp, name: string, cure: string];

const PANDAS = (read: string) =>
  `pandas makes Parquet of it: python3 -c "import pandas; pandas.${read}.to_parquet('events.parquet')"`;
const STREAM = `pyarrow makes Parquet of it: python3 -c "import pyarrow.ipc as i, pyarrow.parquet as q; q.write_table(i.open_stream('FILE').read_all(), 'events.parquet')"`;
const JSON_CURE =
  "DuckDB makes Parquet of it: duckdb -c \"COPY (FROM read_json('FILE')) TO 'events.parquet' (FORMAT parquet)\"";
const UNPACK = (command: string) => `Unpack it: ${command}`;
const EXCEL = 'Save it as "CSV UTF-8" in Excel';
const SQLITE = 'Write its records as CSV: sqlite3 -header -csv FILE';
const UTF8 = (from: string) => `Write it in UTF-8: iconv -f ${from} -t UTF-8 FILE > events.csv`;

/** The formats that are not read, by the hexadecimal digits of their first bytes. */
const FORMATS: readonly Format[] = [
  [/^4152524f5731/, 'an Arrow file (Feather)', PANDAS("read_feather('FILE')")],
  [/^ffffffff....0000/, 'an Arrow stream', STREAM],
  [/^4f5243/, 'an ORC file', PANDAS("read_orc('FILE')")],
  [/^4f626a01/, 'an Avro file', 'Write it as Parquet or CSV with the program that wrote it'],
  // A zip archive with the part `[Content_Types].xml` or in the folder `xl`.
  [/^504b0304.*(5b436f6e74656e745f54797065735d|786c2f)/, 'an Excel workbook (xlsx)', EXCEL],
  [/^d0cf11e0/, 'an Excel workbook (xls)', EXCEL],
  [/^504b0[357]/, 'a zip archive', UNPACK('unzip FILE')],
  [/^fd377a585a00/, 'an xz file', UNPACK('xz -dk FILE')],
  [/^425a683[1-9]314159265359/, 'a bzip2 file', UNPACK('bzip2 -dk FILE')],
  [/^28b52ffd/, 'a Zstandard file', UNPACK('zstd -d FILE')],
  [/^.{514}7573746172/, 'a tar archive', UNPACK('tar -xf FILE')],
  [/^fffe|^feff|^([2-7].00){2}|^(00[2-7].){2}/, 'text in UTF-16', UTF8('UTF-16')],
  [/^53514c69746520666f726d61742033/, 'an SQLite database', SQLITE],
];

/** The same, by the first characters. */
const TEXTS: readonly Format[] = [
  [/^<(!doctype|html|\?xml)/i, 'HTML or XML', 'Look into it: perhaps it is an error message'],
  [/^(\{\s*"|\[\s*[{[])/, 'JSON', JSON_CURE],
];

/** The number of bytes by which a format is told. */
export const HEAD_BYTES = 4_096;

export const isParquet = (head: Buffer): boolean => /^PAR[1E]/.test(head.toString('latin1', 0, 4));

export const isGzip = (head: Buffer): boolean => head[0] === 0x1f && head[1] === 0x8b;

/** Throws if the first bytes of a file are those of another format than CSV. */
export function refuseOtherFormats(head: Buffer, name: string): void {
  const hex = head.toString('hex', 0, HEAD_BYTES);
  const text = head.toString('utf8', 0, HEAD_BYTES).replace(/^\ufeff?\s*/, '');
  const [, format, cure] =
    FORMATS.find(([begins]) => begins.test(hex)) ?? TEXTS.find(([begins]) => begins.test(text)) ?? [];
  if (format === undefined) return;
  const filled = cure?.replaceAll(' FILE', ` ${shellWord(name)}`).replaceAll('FILE', name);
  throw new Error(`it is ${format}, and neither Parquet nor CSV. ${filled}`);
}
