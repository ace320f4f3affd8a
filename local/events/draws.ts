import { createHash } from 'node:crypto';

/**
 * Pseudo-random numbers in integer arithmetic, so that every machine and every version of DuckDB makes the same
 * ones. A number is below 2^32 and depends only on the row's number and a purpose. `below` uses its high bits, which
 * are mixed best. Powers and logarithms are not used: their last bits differ between platforms.
 */
export const DRAW_MACROS = `
  CREATE MACRO times(x, factor) AS (x * factor) & 4294967295;
  CREATE MACRO folded(x, bits) AS xor(x, x >> bits);
  CREATE MACRO scrambled(x) AS times(folded(times(folded(x, 16), 2146121005), 15), 2221713035);
  CREATE MACRO draw(x, salt) AS scrambled((CAST(x AS UBIGINT) * 2654435769 + salt) & 4294967295);
  CREATE MACRO below(drawn, bound) AS CAST((drawn * bound) >> 32 AS BIGINT);
`;

/** SQL for the random number of a row, or of another SQL expression `of`. It is always the same for a purpose. */
export const draw = (purpose: string, of = 'n'): string =>
  `draw(${of}, ${createHash('sha256').update(purpose).digest().readUInt32BE()})`;

const DRAWS = 2 ** 32;

/** SQL for a whole number from 0 to `bound - 1`, all equally likely. */
export const below = (bound: number, drawn: string): string => `below(${drawn}, ${bound}::UBIGINT)`;

/**
 * SQL for a whole number from 0 to `bound - 1` that follows a power law, as traffic does. Half of the draws give a
 * number below the square root of `bound`. Far above this root, the probability of a number n is proportional to 1/n².
 */
export function skewedBelow(bound: number, drawn: string): string {
  // The inverse of this distribution is a hyperbola. Over the range of a draw, it falls from `bound` to 0.
  const half = Math.ceil(Math.sqrt(bound));
  const start = Math.floor((half * DRAWS) / (bound + half)) + 1;
  return `${half * DRAWS} // (${start} + ${below(DRAWS - start, drawn)}) - ${half}`;
}

/** SQL that is true in this share of the rows, or of the values of `of`. */
export const chance = (perThousand: number, purpose: string, of?: string): string =>
  `${below(1000, draw(purpose, of))} < ${perThousand}`;
