import { quotientText } from './decimal.ts';
import type { Numbers } from './number-column.ts';
import type { Ordering } from './sort-rows.ts';

/** The decimal places of a change in percent. */
export const PERCENT_PLACES = 2;

/** A ratio, or a change in percent: one column divided by another, multiplied by a factor, with some decimal places. */
export interface Quotients {
  readonly dividend: Numbers;
  readonly divisor: Numbers;
  readonly factor: number;
  readonly places: number;
}

/** The quotient of two values or two sums; null if a value is missing or the divisor is zero. */
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

/** Sorts quotients as floating-point numbers. The table does not show differences that such numbers cannot express. */
export const orderOfQuotients = ({ dividend, divisor }: Quotients): Ordering => ({
  key(row) {
    const below = divisor.near(row);
    return below === 0 ? Number.NaN : dividend.near(row) / below;
  },
});

export const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
