import type { Field } from '../report/catalogue.ts';

export type CsvColumn = Pick<Field, 'name' | 'type'>;

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

/** Whether a byte is a digit, 0x30 to 0x39. For every other byte, the XOR gives 10 or more. */
const isDigit = (byte: number) => (byte ^ 0x30) < 10;

/** What comes next in the file: first a name of the header, or a value of the column's kind. */
const NAME = 0;
const TEXT = 1;
const NUMBER = 2;
const IN_TEXT = 3;
/** After a quote in a text: the quote ends the text, unless another quote follows. */
const AFTER_TEXT = 4;
const AFTER_MINUS = 5;
const IN_WHOLE_PART = 6;
const AFTER_POINT = 7;
const IN_FRACTION = 8;
/** After a quote around a number, which is left out. */
const BEFORE_NUMBER = 9;
const AFTER_NUMBER = 10;
/** After a comma or LF. The next state depends on the column. */
const AFTER_VALUE = 11;
const REFUSED = 12;

const DIGITS = '0123456789';
const ANY = /* @__PURE__ */ String.fromCharCode(.../* @__PURE__ */ Array(256).keys());

/**
 * The engine's dialect: the bytes that may follow in each state, and the state after them. The engine quotes every
 * value and every name of the header, doubles a quote in a text, leaves NULL as an empty field, and ends each row with
 * LF. A number is a bigint or a decimal: an optional minus, digits, and optionally a point and more digits.
 */
const DIALECT: readonly (readonly [state: number, bytes: string, next: number])[] = [
  [NAME, '"', IN_TEXT],
  [TEXT, '"', IN_TEXT],
  [TEXT, ',\n', AFTER_VALUE],
  [IN_TEXT, ANY, IN_TEXT],
  [IN_TEXT, '"', AFTER_TEXT],
  [AFTER_TEXT, '"', IN_TEXT],
  [AFTER_TEXT, ',\n', AFTER_VALUE],
  [NUMBER, '"', BEFORE_NUMBER],
  [NUMBER, ',\n', AFTER_VALUE],
  [BEFORE_NUMBER, '-', AFTER_MINUS],
  [BEFORE_NUMBER, DIGITS, IN_WHOLE_PART],
  [AFTER_MINUS, DIGITS, IN_WHOLE_PART],
  [IN_WHOLE_PART, DIGITS, IN_WHOLE_PART],
  [IN_WHOLE_PART, '.', AFTER_POINT],
  [IN_WHOLE_PART, '"', AFTER_NUMBER],
  [AFTER_POINT, DIGITS, IN_FRACTION],
  [IN_FRACTION, DIGITS, IN_FRACTION],
  [IN_FRACTION, '"', AFTER_NUMBER],
  [AFTER_NUMBER, ',\n', AFTER_VALUE],
];

/** The state after each byte in each state, at `256 * state + byte`. Bundles without re-typing leave it out. */
const NEXT = /* @__PURE__ */ (() => {
  const table = new Uint8Array(256 * AFTER_VALUE).fill(REFUSED);
  for (const [state, bytes, next] of DIALECT)
    for (const byte of Buffer.from(bytes, 'latin1')) table[256 * state + byte] = next;
  return table;
})();

/** What is wrong with a byte that the dialect refuses in a state, or that ends a row too early or too late. */
function faultOf(state: number, byte: number): string {
  if (NEXT[256 * state + byte] === AFTER_VALUE)
    return `a row with a column too ${byte === COMMA ? 'many' : 'few'}`;
  if (state === NAME) return 'a name without quotes';
  if (state === TEXT || state === NUMBER) return 'a value without quotes';
  if (state === AFTER_TEXT || state === AFTER_NUMBER) return 'a value that goes on after its last quote';
  return 'no number in a column of numbers';
}

/**
 * Turns the engine's result file, in which every value is quoted, into the report's CSV (docs/contract.md#the-file).
 * The result has the header line of the requested fields, numbers without quotes, and texts and instants as they were.
 * NULL stays an empty field. Throws NotEngineCsv if the file is not made of whole rows of these columns in the engine's
 * dialect.
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
  const kinds = columns.map(({ type }) => (type === 'integer' || type === 'float' ? NUMBER : TEXT));
  const place = { state: NAME, column: 0, offset: 0, rows: -1 };
  for await (const chunk of chunks) {
    const size = retypePiece(chunk, kinds, place);
    if (size > 0) yield chunk.subarray(0, size);
  }
  const { state, column, offset, rows } = place;
  if (rows < 0) throw new NotEngineCsv('it ends within its header', offset, column);
  if (column > 0 || state > NUMBER) throw new NotEngineCsv('it ends within a row', offset, column);
  onEnd?.(rows);
}

/** How far the file is read. `rows` is -1 in the header. */
interface Place {
  state: number;
  column: number;
  offset: number;
  rows: number;
}

/** Moves the bytes that stay to the beginning of the file's next piece. Returns their number. */
function retypePiece(piece: Uint8Array, kinds: readonly number[], place: Place): number {
  const end = piece.length;
  let { state, column, rows } = place;
  let size = 0;
  for (let at = 0; at < end; at++) {
    const byte = piece[at] as number;
    const next = NEXT[256 * state + byte] as number;
    if (next < AFTER_VALUE) {
      if (next < BEFORE_NUMBER) piece[size++] = byte;
      // Most bytes are in texts and digits. Without these two loops, re-typing would take a third longer.
      if (next === IN_TEXT)
        while (at + 1 < end && piece[at + 1] !== QUOTE) piece[size++] = piece[++at] as number;
      else if (next === IN_WHOLE_PART)
        while (at + 1 < end && isDigit(piece[at + 1] as number)) piece[size++] = piece[++at] as number;
      state = next;
      continue;
    }
    const isLast = column === kinds.length - 1;
    if (next === REFUSED || isLast === (byte === COMMA))
      throw new NotEngineCsv(faultOf(state, byte), place.offset + at, column);
    piece[size++] = byte;
    if (byte === COMMA) column++;
    else {
      column = 0;
      // The engine's header is left out.
      if (rows < 0) size = 0;
      rows++;
    }
    state = rows < 0 ? NAME : (kinds[column] as number);
  }
  Object.assign(place, { state, column, rows, offset: place.offset + end });
  return rows < 0 ? 0 : size;
}
