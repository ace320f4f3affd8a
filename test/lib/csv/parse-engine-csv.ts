import type { CsvColumn } from '../../../lib/csv/retype-csv.ts';

const FIELD = `(?:"[^"]*(?:""[^"]*)*")?`;
const ROW = new RegExp(`(${FIELD}(?:,${FIELD})*)\n`, 'y');
const NUMBER = /^"(-?[0-9]+(\.[0-9]+)?)"$/;

/**
 * The lines of the engine's CSV, each a list of fields with their quotes; undefined if the text is not such CSV.
 */
function linesOf(file: string): string[][] | undefined {
  const lines: string[][] = [];
  for (let at = 0; at < file.length; at = ROW.lastIndex) {
    ROW.lastIndex = at;
    const [, line] = ROW.exec(file) ?? [];
    if (line === undefined) return undefined;
    lines.push([...`${line},`.matchAll(new RegExp(`(${FIELD}),`, 'g'))].map(([, field = '']) => field));
  }
  return lines;
}

/** A report, and the number of its rows. Each character of the text is one byte. */
export interface Retyped {
  readonly text: string;
  readonly rows: number;
}

/**
 * The expected output of `retypeCsv`, made by regular expressions over the whole file. Undefined if `retypeCsv` must
 * refuse the file.
 */
export function retypeByParsing(columns: readonly CsvColumn[], file: Uint8Array): Retyped | undefined {
  const [header, ...rows] = linesOf(Buffer.from(file).toString('latin1')) ?? [];
  if (header?.length !== columns.length || header.includes('')) return undefined;
  let text = `${columns.map(({ name }) => `"${name}"`).join(',')}\n`;
  for (const row of rows) {
    if (row.length !== columns.length) return undefined;
    const fields = row.map((field, index) => {
      const isNumber = ['integer', 'float'].includes(columns[index]?.type ?? '');
      return isNumber && field !== '' ? NUMBER.exec(field)?.[1] : field;
    });
    if (fields.includes(undefined)) return undefined;
    text += `${fields.join(',')}\n`;
  }
  return { text, rows: rows.length };
}
