import type { FieldType } from './catalogue.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const LF = 0x0a;

export interface CsvColumn {
  readonly name: string;
  readonly type: FieldType;
}

/**
 * Turns the engine's result file, where every value is quoted, into the report's CSV (contract 2.3): the
 * header line of the requested fields, numbers bare, texts and instants as they are. NULL stays an empty field.
 * Throws if the file does not hold whole rows of these columns.
 *
 * @param columns name and type of each column, in the file's order
 * @param chunks the engine's file, cut anywhere; each is overwritten and handed on before the next is asked for
 */
export async function* retypeCsv(
  columns: readonly CsvColumn[],
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${columns.map(({ name }) => `"${name}"`).join(',')}\n`);

  const isNumber = Uint8Array.from(columns, ({ type }) => (type === 'integer' || type === 'float' ? 1 : 0));
  const lastColumn = columns.length - 1;
  let column = 0;
  let insideQuotes = false;
  let header = true;
  let lastByte: number | undefined;
  for await (const chunk of chunks) {
    // Bytes are only ever left out, so that the chunk itself holds what is kept of it.
    let length = 0;
    let isBare = isNumber[column];
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index] as number;
      if (byte === QUOTE) {
        // A doubled quote leaves and enters again, so that it needs no look ahead.
        insideQuotes = !insideQuotes;
        if (isBare) continue;
      } else if (!insideQuotes) {
        if (byte === COMMA) isBare = isNumber[++column];
        else if (byte === LF) {
          if (column !== lastColumn) throw malformed();
          column = 0;
          isBare = isNumber[0];
          if (header) {
            header = false;
            length = 0;
            continue;
          }
        }
      }
      chunk[length++] = byte;
    }
    // It is as it came: nothing but the last byte itself is ever written there.
    lastByte = chunk.at(-1) ?? lastByte;
    if (length > 0 && !header) yield chunk.subarray(0, length);
  }
  if (header || insideQuotes || column !== 0 || lastByte !== LF) throw malformed();
}

const malformed = () =>
  new Error("the engine's result file does not hold whole rows of the report's columns");
