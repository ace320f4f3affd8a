import type { FieldType } from '../report/catalogue.ts';

export interface CsvColumn {
  readonly name: string;
  readonly type: FieldType;
}

/**
 * Turns the engine's result file, in which every value is quoted, into the report's CSV (docs/contract.md#the-file).
 * The result has the header line of the requested fields, numbers without quotes, and texts and instants as they were.
 * NULL stays an empty field. Throws NotEngineCsv if the file is not made of whole rows of these columns in the engine's
 * dialect.
 *
 * @param columns name and type of each column, in the file's order
 * @param chunks the engine's file, cut anywhere; each chunk is overwritten and passed on before the next one is read
 * @param onEnd called with the number of rows after the last chunk
 */
export async function* retypeCsv(
  columns: readonly CsvColumn[],
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onEnd?: (rows: number) => void,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${columns.map(({ name }) => `"${name}"`).join(',')}\n`);

  const quotes = numberQuotes(columns.map(({ type }) => type === 'integer' || type === 'float'));
  for await (const chunk of chunks) {
    const length = quotes.drop(chunk);
    if (length > 0) yield chunk.subarray(0, length);
  }
  const rows = quotes.end();
  onEnd?.(rows);
}

/** The result file is not in the engine's CSV dialect. The message quotes no value: they are a partner's. */
export class NotEngineCsv extends Error {
  /** @param offset position of the wrong byte, and `column` its column, both counted from 0 */
  constructor(fault: string, offset: number, column: number) {
    super(
      `the engine's result file is not in its CSV dialect: ${fault} (byte ${offset}, column ${column + 1})`,
    );
    this.name = 'NotEngineCsv';
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const LF = 0x0a;

/** Whether a byte is a digit, 0x30 to 0x39. For every other byte, the XOR gives 10 or more. */
const isDigit = (byte: number) => (byte ^ 0x30) < 10;

/** The states of the parser after the bytes that it has read so far. */
const BEFORE_VALUE = 0;
const IN_TEXT = 1;
/** After a number's first quote. The states from BEFORE_NUMBER to IN_FRACTION follow the order of a number's parts. */
const BEFORE_NUMBER = 2;
const AFTER_MINUS = 3;
const IN_WHOLE_PART = 4;
const AFTER_POINT = 5;
const IN_FRACTION = 6;
/** After a quote in a text: the quote ends the text, unless another quote follows. */
const AFTER_TEXT = 7;
const AFTER_NUMBER = 8;

/** The next state after a byte in a number, if this byte is no digit; undefined if the engine writes no such number. */
function afterNonDigit(state: number, byte: number): number | undefined {
  if (byte === QUOTE && (state === IN_WHOLE_PART || state === IN_FRACTION)) return AFTER_NUMBER;
  if (byte === POINT && state === IN_WHOLE_PART) return AFTER_POINT;
  if (byte === MINUS && state === BEFORE_NUMBER) return AFTER_MINUS;
  return undefined;
}

/**
 * Turns one file of the engine's CSV into the rows of a report. The file comes in pieces that are cut anywhere.
 *
 * The engine quotes every value and every name of the header, doubles a quote in a text, leaves NULL as an empty field,
 * and ends each row with LF. A number is a bigint or a decimal: an optional minus, digits, and optionally a point and
 * more digits. For any other file, `drop` or `end` throws NotEngineCsv. After that, call neither of these functions
 * again.
 *
 * @param isNumber for each column, in the file's order: whether it holds numbers
 */
function numberQuotes(isNumber: readonly boolean[]) {
  const lastColumn = isNumber.length - 1;
  let inHeader = true;
  let offset = 0;
  let rows = 0;
  const reached = { state: BEFORE_VALUE, column: 0 };

  return {
    /** Moves the bytes that stay to the beginning of the file's next piece. Returns their number. */
    drop(piece: Uint8Array): number {
      const end = piece.length;
      let { state, column } = reached;
      let at = 0;
      let kept = 0;
      const refusal = (fault: string) => new NotEngineCsv(fault, offset + at, column);

      // Each turn of the loop reads a value and the comma or LF after it, or the part of them that the piece contains.
      while (at < end) {
        if (state === BEFORE_VALUE) {
          if (piece[at] === QUOTE) {
            if (isNumber[column] && !inHeader) state = BEFORE_NUMBER;
            else {
              state = IN_TEXT;
              piece[kept++] = QUOTE;
            }
            at++;
          } else if (inHeader) throw refusal('a name without quotes');
          else if (piece[at] !== COMMA && piece[at] !== LF) throw refusal('a value without quotes');
        }

        if (state === IN_TEXT) {
          while (at < end && piece[at] !== QUOTE) piece[kept++] = piece[at++] as number;
          if (at === end) break;
          state = AFTER_TEXT;
          piece[kept++] = QUOTE;
          at++;
        }
        while (BEFORE_NUMBER <= state && state <= IN_FRACTION && at < end) {
          if (isDigit(piece[at] as number)) {
            state = state < AFTER_POINT ? IN_WHOLE_PART : IN_FRACTION;
            while (at < end && isDigit(piece[at] as number)) piece[kept++] = piece[at++] as number;
          } else {
            const byte = piece[at] as number;
            const next = afterNonDigit(state, byte);
            if (next === undefined) throw refusal('no number in a column of numbers');
            state = next;
            if (byte !== QUOTE) piece[kept++] = byte;
            at++;
          }
        }
        if (at === end) break;

        const byte = piece[at] as number;
        if (byte === QUOTE && state === AFTER_TEXT) state = IN_TEXT;
        else if (byte === COMMA) {
          if (column === lastColumn) throw refusal('a row with a column too many');
          state = BEFORE_VALUE;
          column++;
        } else if (byte === LF) {
          if (column !== lastColumn) throw refusal('a row with a column too few');
          state = BEFORE_VALUE;
          column = 0;
          if (!inHeader) rows++;
        } else throw refusal('a value that goes on after its last quote');
        piece[kept++] = byte;
        at++;
        if (inHeader && byte === LF) {
          inHeader = false;
          kept = 0;
        }
      }
      offset += end;
      reached.state = state;
      reached.column = column;
      return inHeader ? 0 : kept;
    },

    /** Checks that the file ends where a row ends. Returns the number of rows. */
    end(): number {
      if (inHeader) throw new NotEngineCsv('it ends within its header', offset, reached.column);
      if (reached.state !== BEFORE_VALUE || reached.column !== 0)
        throw new NotEngineCsv('it ends within a row', offset, reached.column);
      return rows;
    },
  };
}
