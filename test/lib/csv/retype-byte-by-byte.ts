import type { CsvColumn } from '../../../lib/csv/retype-csv.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const LF = 0x0a;

/** What `retypeCsv` makes of a file, in the plainest way: all of it at once and a byte at a time. */
export function retypeByteByByte(columns: readonly CsvColumn[], file: Uint8Array): Buffer {
  const isNumber = columns.map(({ type }) => type === 'integer' || type === 'float');
  const kept: number[] = [];
  let column = 0;
  let insideQuotes = false;
  let header = true;
  for (const byte of file) {
    if (byte === QUOTE) insideQuotes = !insideQuotes;
    if (!header && !(byte === QUOTE && isNumber[column])) kept.push(byte);
    if (insideQuotes) continue;
    if (byte === COMMA) column++;
    else if (byte === LF) {
      if (column !== columns.length - 1) throw new Error('a row with a column too few or too many');
      column = 0;
      header = false;
    }
  }
  if (header || insideQuotes || file.at(-1) !== LF) throw new Error('not whole rows');
  return Buffer.concat([
    Buffer.from(`${columns.map(({ name }) => `"${name}"`).join(',')}\n`),
    Buffer.from(kept),
  ]);
}
