import { NumberBlocks, owned } from './number-column.ts';
import type { Cell } from './read-csv.ts';

/** The code of "not known" in every dictionary. */
const NULL_CODE = 0;

/** The different texts of a column, each with its code. Both files of a comparison share one dictionary. */
export class Dictionary {
  readonly texts: Cell[] = [null];
  readonly #codes = new Map<string, number>();

  codeOf(text: Cell): number {
    if (text === null) return NULL_CODE;
    const known = this.#codes.get(text);
    if (known !== undefined) return known;
    const own = owned(text);
    this.#codes.set(own, this.texts.length);
    return this.texts.push(own) - 1;
  }

  /** The place of each code's text among the sorted texts; NaN for "not known". */
  ranks(): Float64Array {
    const ranks = new Float64Array(this.texts.length).fill(Number.NaN);
    const sorted = this.texts
      .flatMap((text, code) => (text === null ? [] : [{ text, code }]))
      .sort((a, b) => byCodePoint(a.text, b.text));
    for (const [rank, { code }] of sorted.entries()) ranks[code] = rank;
    return ranks;
  }
}

/** A column of texts. Each text takes four bytes, plus its entry in the dictionary. */
export class TextColumn {
  readonly dictionary: Dictionary;
  readonly #codes = new NumberBlocks(Uint32Array);
  readonly #codeOf: (text: Cell) => number;

  /** If `changed` is given, the column stores `changed(text)` in place of each text. */
  constructor(dictionary: Dictionary, changed?: (text: string) => string) {
    this.dictionary = dictionary;
    this.#codeOf = changed ? changedCodes(dictionary, changed) : (text) => dictionary.codeOf(text);
  }

  push(cell: Cell): void {
    this.#codes.push(this.#codeOf(cell));
  }

  code(row: number): number {
    return this.#codes.at(row);
  }

  cell(row: number): Cell {
    return this.dictionary.texts[this.code(row)] ?? null;
  }
}

function changedCodes(dictionary: Dictionary, changed: (text: string) => string): (text: Cell) => number {
  const codes = new Map<string, number>();
  return (text) => {
    if (text === null) return NULL_CODE;
    let code = codes.get(text);
    if (code === undefined) {
      code = dictionary.codeOf(changed(text));
      codes.set(owned(text), code);
    }
    return code;
  };
}

/**
 * Compares two texts in the order of the file. JavaScript compares UTF-16 units, and so would put surrogates before
 * U+E000 to U+FFFF.
 */
function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const one = a.charCodeAt(at);
    const other = b.charCodeAt(at);
    if (one !== other) return inOrder(one) - inOrder(other);
  }
  return a.length - b.length;
}

/** The sort value of a UTF-16 unit. It puts surrogates last. */
const inOrder = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10_000 : unit);
