import { quotientText } from './decimal.ts';
import { EXACT_BELOW, type Numbers } from './number-column.ts';
import type { Ordering } from './sort-rows.ts';

/** A change in percent has two places. */
export const PERCENT_PLACES = 2;

/** A ratio, or a change in percent: one column divided by another, and the places that are shown. */
export interface Quotients {
  readonly dividend: Numbers;
  readonly divisor: Numbers;
  readonly factor: number;
  readonly places: number;
}

/** A quotient of two values, or of two sums; null where there is none. */
export function quotientOf(
  { dividend, divisor, factor, places }: Quotients,
  above: bigint | undefined,
  below: bigint | undefined,
): string | null {
  if (above === undefined || below === undefined) return null;
  return quotientText(
    above * BigInt(factor) * 10n ** BigInt(divisor.places),
    below * 10n ** BigInt(dividend.places),
    places,
  );
}

export const quotientAt = (quotients: Quotients, row: number): string | null =>
  quotientOf(quotients, quotients.dividend.exact(row), quotients.divisor.exact(row));

/**
 * The exact order of quotients. A number is the nearest to its quotient, so that a greater number is a greater quotient;
 * equal numbers are compared crosswise.
 */
export function orderOfQuotients({ dividend, divisor }: Quotients): Ordering {
  const isExact = (value: number) => Math.abs(value) < EXACT_BELOW;
  return {
    key(row) {
      const above = dividend.near(row);
      const below = divisor.near(row);
      if (below === 0) return Number.NaN;
      if (isExact(above) && isExact(below)) return above / below;
      const exactAbove = dividend.exact(row);
      const exactBelow = divisor.exact(row);
      return exactAbove === undefined || exactBelow === undefined
        ? Number.NaN
        : nearestQuotient(exactAbove, exactBelow);
    },
    tie(a, b) {
      const one = dividend.near(a) * divisor.near(b);
      const other = dividend.near(b) * divisor.near(a);
      const isFlipped = divisor.near(a) < 0 !== divisor.near(b) < 0;
      const order =
        isExact(one) && isExact(other)
          ? one - other
          : compare(
              (dividend.exact(a) ?? 0n) * (divisor.exact(b) ?? 0n),
              (dividend.exact(b) ?? 0n) * (divisor.exact(a) ?? 0n),
            );
      return isFlipped ? -order : order;
    },
  };
}

export const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** So many that no quotient of 90-bit integers is rounded wrongly for being cut off after them. */
const FRACTION_BITS = 256;

/** The number nearest to a quotient of integers, of which no number may hold either. */
const nearestQuotient = (above: bigint, below: bigint): number =>
  Number((above << BigInt(FRACTION_BITS)) / below) * 2 ** -FRACTION_BITS;
