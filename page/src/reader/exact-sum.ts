import type { Numbers } from './number-column.ts';

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
