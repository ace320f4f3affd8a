import type { Numbers } from './number-column.ts';

/** Values below it are added up as numbers, which is fast, until the sum could round. */
const SMALL_BELOW = 1e15;
const FLUSH_AT = 2 ** 52;

/** The exact sum over some rows, as an integer of the last place. Rows without a value count as zero. */
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

/** Sums over the same rows: each column is added up once, however often it is asked for. */
export function sumsOver(rows: Uint32Array): SumOf {
  const sums = new Map<Numbers, bigint>();
  return (numbers) => {
    const sum = sums.get(numbers) ?? sumOver(rows, numbers);
    sums.set(numbers, sum);
    return sum;
  };
}
