import { decimalText, scaled } from './decimal.ts';
import { BrokenCsv, type Cell } from './read-csv.ts';

const BLOCK_BITS = 16;
const BLOCK_LENGTH = 2 ** BLOCK_BITS;

/**
 * A list of numbers, stored in blocks. The count of numbers is not known in advance, and with blocks the list grows
 * without copying.
 */
export class NumberBlocks<Block extends Float64Array | Uint32Array> {
  readonly #make: new (
    length: number,
  ) => Block;
  readonly #blocks: Block[] = [];
  #newest: Block | undefined;
  length = 0;

  constructor(make: new (length: number) => Block) {
    this.#make = make;
  }

  push(value: number): void {
    const at = this.length++ & (BLOCK_LENGTH - 1);
    if (at === 0 || !this.#newest) {
      this.#newest = new this.#make(BLOCK_LENGTH);
      this.#blocks.push(this.#newest);
    }
    this.#newest[at] = value;
  }

  at(index: number): number {
    return this.#blocks[index >>> BLOCK_BITS]?.[index & (BLOCK_LENGTH - 1)] ?? Number.NaN;
  }
}

/** Values below this bound are added up as floating-point numbers, which is fast, as long as the sum stays exact. */
const SMALL_BELOW = 1e15;
const FLUSH_AT = 2 ** 52;

/** The exact sum over some rows, as an integer of the last place. A row without a value counts as zero. */
export function sumOver(rows: Uint32Array, numbers: Numbers): bigint {
  let big = 0n;
  let small = 0;
  for (const row of rows) {
    const near = numbers.near(row);
    if (Math.abs(near) < SMALL_BELOW) {
      small += near;
      if (Math.abs(small) >= FLUSH_AT) {
        big += BigInt(small);
        small = 0;
      }
    } else if (!Number.isNaN(near)) big += numbers.exact(row) ?? 0n;
  }
  return big + BigInt(small);
}

export type SumOf = (numbers: Numbers) => bigint;

/** Returns a function that sums columns over the same rows. It adds up each column only once. */
export function sumsOver(rows: Uint32Array): SumOf {
  const sums = new Map<Numbers, bigint>();
  return (numbers) => {
    const sum = sums.get(numbers) ?? sumOver(rows, numbers);
    sums.set(numbers, sum);
    return sum;
  };
}

/** Below this bound, a JavaScript number holds every integer exactly. */
export const EXACT_BELOW = 2 ** 53;
/** A JavaScript number holds every integer with this many digits exactly. */
const SAFE_DIGITS = 15;

/** An exact value for each row. A decimal is an integer of its last place (decimal.ts). */
export interface Numbers {
  readonly places: number;
  /**
   * The JavaScript number nearest to the value. Below `EXACT_BELOW` it is the value itself. NaN if the row has no
   * value.
   */
  near(row: number): number;
  /** The exact value; undefined if the row has no value. */
  exact(row: number): bigint | undefined;
}

/** A column of numbers. Each number takes eight bytes. The column returns exactly the digits of the file. */
export class NumberColumn implements Numbers {
  readonly places: number;
  readonly #pattern: RegExp;
  readonly #near = new NumberBlocks(Float64Array);
  /** The texts that a JavaScript number cannot reproduce, by row. */
  readonly #texts = new Map<number, string>();

  constructor(places: number) {
    this.places = places;
    this.#pattern = places === 0 ? /^-?\d+$/ : new RegExp(`^-?\\d+(\\.\\d{0,${places}})?$`);
  }

  /** Adds a value. Throws BrokenCsv if the text is no number. */
  push(cell: Cell): void {
    this.#near.push(cell === null ? Number.NaN : this.#nearOf(cell));
  }

  near(row: number): number {
    return this.#near.at(row);
  }

  exact(row: number): bigint | undefined {
    const near = this.near(row);
    if (Number.isNaN(near)) return undefined;
    const text = this.#texts.get(row);
    return text === undefined ? BigInt(near) : scaled(text, this.places);
  }

  cell(row: number): Cell {
    const near = this.near(row);
    if (Number.isNaN(near)) return null;
    return this.#texts.get(row) ?? decimalText(near, this.places);
  }

  /** The number for the text of the newest row. Keeps the text if the number cannot reproduce it. */
  #nearOf(text: string): number {
    const safe = safeNumber(text, this.places);
    if (!Number.isNaN(safe)) return safe;
    if (!this.#pattern.test(text)) throw new BrokenCsv('A value is not a number where one must be.');
    this.#texts.set(this.#near.length, owned(text));
    return Number(scaled(text, this.places));
  }
}

const ZERO = 48;
const MINUS = 45;
const POINT = 46;

/**
 * The scaled value of a text with at most SAFE_DIGITS digits. NaN if there are more digits, or if the text can't be
 * made from the value again.
 */
function safeNumber(text: string, places: number): number {
  const start = text.charCodeAt(0) === MINUS ? 1 : 0;
  const point = places === 0 ? text.length : text.length - places - 1;
  const wholeDigits = point - start;
  if (wholeDigits < 1 || wholeDigits + places > SAFE_DIGITS) return Number.NaN;
  if (wholeDigits > 1 && text.charCodeAt(start) === ZERO) return Number.NaN;
  let value = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (at === point) {
      if (code !== POINT) return Number.NaN;
    } else if (code < ZERO || code > ZERO + 9) return Number.NaN;
    else value = value * 10 + (code - ZERO);
  }
  if (start === 0) return value;
  return value === 0 ? Number.NaN : -value;
}

/** Copies a text. Without the copy, a slice would keep the whole piece of the file in memory. */
export const owned = (text: string): string => [...text].join('');
