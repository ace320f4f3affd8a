/** Decimals as integers of their last place: with six places, `2.5` is 2500000. */

/** Amounts of the file have six places (docs/contract.md#the-file). The page gives ratios six places too. */
export const FILE_AMOUNT_PLACES = 6;
export const RATIO_PLACES = 6;

/** Turns a decimal into an integer of its last place. The decimal must not have more places than `places`. */
export function scaled(text: string, places: number): bigint {
  const point = text.indexOf('.');
  if (point === -1) return BigInt(text + '0'.repeat(places));
  return BigInt(text.slice(0, point) + text.slice(point + 1).padEnd(places, '0'));
}

/** Turns an integer of the last place back into a decimal, which has exactly `places` places. */
export function decimalText(value: number | bigint, places: number): string {
  if (places === 0) return String(value);
  const digits = String(value < 0 ? -value : value).padStart(places + 1, '0');
  return `${value < 0 ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** The quotient as text. Its last place is rounded, a half away from zero. Null if the divisor is zero. */
export function quotientText(dividend: bigint, divisor: bigint, places: number): string | null {
  if (divisor === 0n) return null;
  const above = size(dividend) * 10n ** BigInt(places);
  const below = size(divisor);
  const rounded = (2n * above + below) / (2n * below);
  return decimalText(dividend < 0n === divisor < 0n ? rounded : -rounded, places);
}

const size = (value: bigint): bigint => (value < 0n ? -value : value);
