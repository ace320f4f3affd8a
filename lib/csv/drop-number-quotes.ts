import { wasm } from './drop-number-quotes.wasm.ts';

/** What is used of WebAssembly; TypeScript declares it only together with the browser. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

type Constant = { readonly value: number };
type Variable = { value: number };

/** The exports of drop-number-quotes.wat, which says what they mean. */
interface Kernel {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly mostColumns: Constant;
  readonly input: Constant;
  readonly inputBytes: Constant;
  readonly output: Constant;
  readonly column: Variable;
  readonly insideValue: Variable;
  copy(bytes: number, lastColumn: number): number;
}

/**
 * One for all files, made at import in less than a millisecond: Node.js sets 8 GB of addresses aside for each, and a
 * process under a limit of them may be refused the next.
 */
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(wasm, 'base64')));
const { memory, mostColumns, input, inputBytes, output, column, insideValue, copy } = exports as Kernel;
const bytes = new Uint8Array(memory.buffer);

const LF = 0x0a;

export interface NumberQuotes {
  /**
   * Leaves the quotes of numbers out of the file's next piece, in place; the bytes kept are the piece's first, and
   * their number is the answer. Throws where a row has a column too few or too many, and is not to be called again.
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
  if (isNumber.length < 1 || isNumber.length > mostColumns.value)
    throw new RangeError(
      `the file of a report has 1 to ${mostColumns.value} columns, not ${isNumber.length}`,
    );
  const isKept = Uint8Array.from(isNumber, (bare) => (bare ? 0 : 1));
  // Where this file is, while the kernel is at others.
  const state = { column: 0, insideValue: 0 };
  let lastByte: number | undefined;

  return {
    drop(piece) {
      lastByte = piece.at(-1) ?? lastByte;
      bytes.set(isKept);
      column.value = state.column;
      insideValue.value = state.insideValue;
      let kept = 0;
      for (let start = 0; start < piece.length; start += inputBytes.value) {
        const slice = piece.subarray(start, start + inputBytes.value);
        bytes.set(slice, input.value);
        const length = copy(slice.length, isNumber.length - 1);
        if (length < 0) throw brokenRows();
        piece.set(bytes.subarray(output.value, output.value + length), kept);
        kept += length;
      }
      state.column = column.value;
      state.insideValue = insideValue.value;
      return kept;
    },
    afterRow: () => lastByte === LF && state.column === 0 && state.insideValue === 0,
  };
}

export const brokenRows = () =>
  new Error("the engine's result file does not hold whole rows of the report's columns");
