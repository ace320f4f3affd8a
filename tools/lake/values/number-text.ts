/** A number of digits with at most one point and without an exponent. */
const PLAIN = '[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)';

/** SQL: whether a text is a number in a form that programs write. */
export const isNumber = (x: string): string =>
  `regexp_full_match(${x}, ' *${PLAIN}([eE][+-]?[0-9]{1,3})? *')`;

/**
 * SQL: the same number as digits with at most one point, for example `0.000076` for `7.6e-05`. NULL if the text is no
 * number. It does not use DuckDB's cast of an exponent, which rounds digits that do not fit.
 */
export const plainNumber = (x: string): string =>
  `CASE WHEN regexp_full_match(${x}, '${PLAIN}') THEN ${x} WHEN ${isNumber(x)} THEN ${expandExponent(`trim(${x})`)} END`;

/**
 * SQL that writes a number with an exponent as plain digits. It pads the digits with zeros on both sides, and moves
 * the point by the exponent.
 */
function expandExponent(x: string): string {
  const mantissa = `ltrim(split_part(lower(${x}), 'e', 1), '+-')`;
  const exponent = `coalesce(TRY_CAST(split_part(lower(${x}), 'e', 2) AS INTEGER), 0)`;
  const zeros = `repeat('0', abs(${exponent}))`;
  const digits = `(${zeros} || replace(${mantissa}, '.', '') || ${zeros})`;
  const point = `(strlen(split_part(${mantissa}, '.', 1)) + abs(${exponent}) + ${exponent})`;
  return `CASE WHEN starts_with(${x}, '-') THEN '-' ELSE '' END || left(${digits}, ${point}) || '.' || substr(${digits}, ${point} + 1)`;
}
