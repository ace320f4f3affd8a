import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { shellWord } from '../../../lake-check/commands.ts';
import { quoteName, quoteText } from '../../../lib/report/quote-sql.ts';
import { oneOf } from '../lake-command.ts';
import { type FileContent, isContractName, refuseDoubledNames } from './column-names.ts';
import { scanCsv } from './csv-scan.ts';
import { HEAD_BYTES, refuseOtherFormats } from './file-format.ts';

const SEPARATORS: Readonly<Record<string, string>> = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' };

/** The separator that `--separator` names. Throws an OperatorFault that lists what it can be. */
export const separatorOf = (text: string | undefined): string | undefined =>
  Object.values(SEPARATORS).find((separator) => separator === text) ??
  SEPARATORS[oneOf('--separator', text, Object.keys(SEPARATORS)) ?? ''];

/** Pieces of this size are read five times as fast as the smaller ones that Node.js reads by default. */
const PIECE_BYTES = 2 ** 20;

/** A file's bytes. Of a gzip file, what is packed in it. Throws if such a file is not whole. */
async function* bytesOf(path: string, isGzip: boolean): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: PIECE_BYTES });
  if (!isGzip) return yield* file;
  try {
    // An error of either stream ends both, and the loop over the second one throws it.
    yield* pipeline(file, createGunzip({ chunkSize: PIECE_BYTES }), () => {});
  } catch (error) {
    throw new Error(`it is no whole gzip file (${(error as Error).message}). Copy it again from its source`);
  }
}

/** The fields of the first line. Empty if it is no CSV with this separator. */
function headerOf(text: string, delimiter: string): string[] {
  try {
    return parse(text, { delimiter, to: 1, relax_column_count: true })[0] ?? [];
  } catch {
    return [];
  }
}

/** The separator that gives the first line the most names of the contract. */
function separatorIn(text: string): string {
  const counted = Object.entries(SEPARATORS).map(([name, separator]) => {
    const fields = headerOf(text, separator);
    return { name, separator, fields: fields.length, known: fields.filter(isContractName).length };
  });
  const most = Math.max(...counted.map(({ known }) => known));
  const [first, ...others] = counted.filter(
    ({ known, fields }) => known === most && (fields > 1 || most === 1),
  );
  if (others.length > 0 && most > 0 && others.some(({ fields }) => fields > 1))
    throw new Error(
      `its first line has several separators. Say --separator ${[first, ...others].map((one) => one?.name).join(' or ')}`,
    );
  return first?.separator ?? ',';
}

/** DuckDB's limit for the bytes of a record, unless another is set. */
const USUAL_RECORD_BYTES = 2_000_000;

/**
 * Describes a CSV file by RFC 4180: its quotes and escapes are declared, its separator is that of the first line or the
 * operator's, and nothing is guessed from the data. Scans the whole file, and throws with the first deviation.
 */
export async function describeCsv(
  { name, path, isGzip }: { readonly name: string; readonly path: string; readonly isGzip: boolean },
  declared: string | undefined,
): Promise<FileContent> {
  let head = Buffer.alloc(0);
  for await (const part of bytesOf(path, isGzip)) {
    head = Buffer.concat([head, part]);
    if (head.length >= PIECE_BYTES) break;
  }
  if (head.length === 0) throw new Error('it is empty. Leave it out, or write it again');
  refuseOtherFormats(head.subarray(0, HEAD_BYTES), name);
  const text = head.toString().replace(/^\ufeff/, '');
  if (text.startsWith('\ufeff'))
    throw new Error(
      `it begins with two byte order marks. Remove one: tail -c +4 ${shellWord(name)} > events.csv`,
    );
  const separator = declared ?? separatorIn(text);
  const names = headerOf(text, separator);
  if (names.length === 0) throw new Error('a quote in its first line does not end, or text follows it');
  refuseDoubledNames(names);
  const isMarked = text.length < head.toString().length;
  const dialect = { separator, isMarked, isDeclared: declared !== undefined, fields: names.length };
  const scan = await scanCsv(bytesOf(path, isGzip), dialect);
  // Columns are read by their place, because names may occur twice.
  const fields = names.map((column, index) => ({ column, field: `field ${index}` }));
  const options = [
    `columns = {${fields.map(({ field }) => `'${field}': 'VARCHAR'`).join(', ')}}, compression = '${isGzip ? 'gzip' : 'none'}'`,
    `auto_detect = false, header = true, delim = ${quoteText(separator)}, quote = '"', escape = '"', strict_mode = true`,
    // Without `new_line`: with it and `strict_mode`, DuckDB reads no record of a file with CR LF, and reports no error.
    "nullstr = '', allow_quoted_nulls = false",
    // Several threads would begin inside of texts.
    ...(scan.hasLineBreaks ? ['parallel = false'] : []),
    ...(scan.longest >= USUAL_RECORD_BYTES
      ? [`max_line_size = ${2 * scan.longest}, buffer_size = ${8 * scan.longest}`]
      : []),
  ];
  return {
    read: { call: 'read_csv', options: options.join(', ') },
    columns: fields.map(({ column, field }) => ({ name: column, type: 'VARCHAR', sql: quoteName(field) })),
    rows: scan.records,
  };
}

/** Turns DuckDB's message about a CSV file into one line with a cure. DuckDB's own hints are for programmers. */
export function csvFault(message: string): string {
  const [first = ''] = message.split('\n', 1);
  const [, line] = /CSV Error on Line: (\d+)/.exec(message) ?? [];
  if (line && /Invalid unicode/.test(message)) return `line ${line} is no UTF-8. Write the file in UTF-8`;
  return line ? `line ${line}: ${message.split('\n')[2] ?? first}` : first;
}
