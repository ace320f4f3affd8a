import { createHash } from 'node:crypto';

/**
 * Chance as integer arithmetic, so that every machine and every version of DuckDB draws the same. A draw is a
 * number below 2^32 that depends on the row's number and the draw's purpose alone; its high bits, which everything
 * else uses, are the well mixed ones. Powers and logarithms are out: their last bits differ between platforms.
 */
export const DRAW_MACROS = `
  CREATE MACRO times(x, factor) AS (x * factor) & 4294967295;
  CREATE MACRO folded(x, bits) AS xor(x, x >> bits);
  CREATE MACRO scrambled(x) AS times(folded(times(folded(x, 16), 2146121005), 15), 2221713035);
  CREATE MACRO draw(x, salt) AS scrambled((CAST(x AS UBIGINT) * 2654435769 + salt) & 4294967295);
  CREATE MACRO below(drawn, bound) AS CAST((drawn * bound) >> 32 AS BIGINT);
`;

/** SQL for the draw of a row, or of whatever number is given instead. The same purpose draws the same. */
export const draw = (purpose: string, of = 'n'): string =>
  `draw(${of}, ${createHash('sha256').update(purpose).digest().readUInt32BE()})`;

const DRAWS = 2 ** 32;

/** SQL for a whole number from 0 to `bound - 1`, all equally likely. */
export const below = (bound: number, drawn: string): string => `below(${drawn}, ${bound}::UBIGINT)`;

/**
 * SQL for a whole number from 0 to `bound - 1` that follows a power law, as traffic does: half of the draws are among
 * the first numbers, as many as the root of `bound`, and the others thin out with the square of their number.
 */
export function skewedBelow(bound: number, drawn: string): string {
  // The inverse of that distribution is a hyperbola, between its values `bound` and 0.
  const half = Math.ceil(Math.sqrt(bound));
  const start = Math.floor((half * DRAWS) / (bound + half)) + 1;
  return `${half * DRAWS} // (${start} + ${below(DRAWS - start, drawn)}) - ${half}`;
}

/** SQL that is true in this share of the rows, or of whatever numbers are given instead. */
export const chance = (perThousand: number, purpose: string, of?: string): string =>
  `${below(1000, draw(purpose, of))} < ${perThousand}`;
