/** Amounts have six decimals (docs/contract.md#the-file). */
const DECIMALS = 6;

/** Values of at most so many digits are exact as a number; they are added up as numbers, which is fast. */
const SAFE_DIGITS = 15;
const FLUSH_AT = 2 ** 52;

/** Adds up integers, or decimals of six places, exactly, as their digits stand in the file. */
export class ExactSum {
  readonly #isDecimal: boolean;
  #big = 0n;
  #small = 0;

  constructor(isDecimal: boolean) {
    this.#isDecimal = isDecimal;
  }

  add(text: string): void {
    const digits = this.#isDecimal ? scaled(text) : text;
    if (digits.length > SAFE_DIGITS) this.#big += BigInt(digits);
    else {
      this.#small += Number(digits);
      if (Math.abs(this.#small) >= FLUSH_AT) this.#flush();
    }
  }

  /** The sum in digits, a decimal with its six places. */
  toString(): string {
    this.#flush();
    if (!this.#isDecimal) return String(this.#big);
    const digits = String(this.#big < 0n ? -this.#big : this.#big).padStart(DECIMALS + 1, '0');
    return `${this.#big < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`;
  }

  #flush(): void {
    this.#big += BigInt(this.#small);
    this.#small = 0;
  }
}

/** A decimal in millionths, without its point. */
function scaled(text: string): string {
  const point = text.indexOf('.');
  if (point === -1) return text + '0'.repeat(DECIMALS);
  return text.slice(0, point) + text.slice(point + 1).padEnd(DECIMALS, '0');
}
