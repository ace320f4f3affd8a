import { createHash } from 'node:crypto';

/**
 * Chance as integer arithmetic, so that every machine and every version of DuckDB draws the same: each draw is
 * a number below 2^32 that depends on nothing but the row's number `n` and the draw's purpose. No power, logarithm or
 * division of floats is used: their last bits differ between platforms.
 */
export const DRAW_MACROS = `
  CREATE MACRO times(x, factor) AS (x * factor) & 4294967295;
  CREATE MACRO folded(x, bits) AS xor(x, x >> bits);
  CREATE MACRO scrambled(x) AS folded(times(folded(times(folded(x, 16), 2146121005), 15), 2221713035), 16);
  CREATE MACRO draw(x, salt) AS scrambled((CAST(x AS UBIGINT) * 2654435769 + salt) & 4294967295);
  CREATE MACRO below(drawn, bound) AS CAST((drawn * bound) >> 32 AS BIGINT);
  CREATE MACRO skewed(drawn) AS (((drawn * drawn) >> 32) * drawn) >> 32;
`;

/** SQL for the draw of a row, or of whatever number is given instead. The same purpose draws the same. */
export const draw = (purpose: string, of = 'n'): string =>
  `draw(${of}, ${createHash('sha256').update(purpose).digest().readUInt32BE()})`;

/** SQL for a whole number from 0 to `bound - 1`, all equally likely. */
export const below = (bound: number, drawn: string): string => `below(${drawn}, ${bound}::UBIGINT)`;

/** SQL like `below`, following a power law: the cube of an even draw, so that a few low numbers take the most. */
export const skewedBelow = (bound: number, drawn: string): string =>
  `below(skewed(${drawn}), ${bound}::UBIGINT)`;

/** SQL that is true in this share of the rows. */
export const chance = (perThousand: number, purpose: string): string =>
  `${below(1000, draw(purpose))} < ${perThousand}`;
