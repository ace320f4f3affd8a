import { wasm } from './drop-number-quotes.wasm.ts';

/** What is used of WebAssembly; TypeScript declares it only together with the browser. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

type Global = { readonly value: number };

/** The exports of drop-number-quotes.wat, which says what they mean. */
interface Kernel {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly mostColumns: Global;
  readonly input: Global;
  readonly inputBytes: Global;
  readonly output: Global;
  readonly column: Global;
  readonly insideValue: Global;
  copy(bytes: number, lastColumn: number): number;
}

/** Compiled at import, in less than a millisecond. */
const kernel = new WebAssembly.Module(Buffer.from(wasm, 'base64'));

const LF = 0x0a;

export interface NumberQuotes {
  /**
   * Leaves the quotes of numbers out of the file's next piece, in place; the bytes kept are the piece's first, and
   * their number is the answer. Throws where a row has a column too few or too many.
   */
  drop(piece: Uint8Array): number;
  /** Whether the last piece ended with a row. */
  afterRow(): boolean;
}

/**
 * What leaves the quotes of numbers out of one file in the engine's CSV, where every value is quoted but NULL, which
 * is empty. The file comes in pieces that are cut anywhere.
 *
 * @param isNumber of each column, in the file's order
 */
export function numberQuotes(isNumber: readonly boolean[]): NumberQuotes {
  const { exports } = new WebAssembly.Instance(kernel);
  const { memory, mostColumns, input, inputBytes, output, column, insideValue, copy } = exports as Kernel;
  if (isNumber.length < 1 || isNumber.length > mostColumns.value)
    throw new RangeError(
      `the file of a report has 1 to ${mostColumns.value} columns, not ${isNumber.length}`,
    );
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(isNumber.map((bare) => (bare ? 0 : 1)));
  let lastByte: number | undefined;

  return {
    drop(piece) {
      lastByte = piece.at(-1) ?? lastByte;
      let kept = 0;
      for (let start = 0; start < piece.length; start += inputBytes.value) {
        const slice = piece.subarray(start, start + inputBytes.value);
        bytes.set(slice, input.value);
        const length = copy(slice.length, isNumber.length - 1);
        if (length < 0) throw brokenRows();
        piece.set(bytes.subarray(output.value, output.value + length), kept);
        kept += length;
      }
      return kept;
    },
    afterRow: () => lastByte === LF && column.value === 0 && insideValue.value === 0,
  };
}

export const brokenRows = () =>
  new Error("the engine's result file does not hold whole rows of the report's columns");
