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
