import { quoteName } from '../../../lib/report/quote-sql.ts';
import type { Change, ExactValue, Note } from './exact-value.ts';
import { INFINITE, isInteger, isNumber, plainNumber, plainValue, textNotes } from './exact-value.ts';

const BEYOND_64_BITS = 'needs more than the 64 bits of a whole number. Correct it at the source';
const FRACTION = 'is no whole number. Identifiers and counts have no fraction: correct it at the source';
const TOO_LARGE =
  'has more than 12 digits before the point, the most that an amount can have. Correct it at the source';
const TOO_FINE =
  'has more than six digits after the point. Say --round to round such amounts to six digits, or round them at the source';

/** The largest numbers up to which doubles and single floats hold every whole number. */
const WHOLE_UP_TO = { DOUBLE: 2n ** 53n - 1n, FLOAT: 2n ** 24n - 1n };

const beyondFloats = (upTo: bigint): string =>
  `is beyond ${upTo}, where a float no longer holds every whole number: it may have been another. Write integers at the source`;

/** Converts identifiers and counts to signed 64-bit integers. */
export function exactInteger(name: string, x: string, found: string): ExactValue {
  if (found === 'VARCHAR') return integerOfText(name, x);
  const cast = `TRY_CAST(${x} AS BIGINT)`;
  const beyond: Note = ['true', BEYOND_64_BITS];
  if (isInteger(found)) return plainValue(x, cast, [beyond]);
  const isFraction = `${x} <> trunc(${x})`;
  const fraction: Note = [isFraction, FRACTION];
  if (found.startsWith('DECIMAL'))
    return plainValue(x, `CASE WHEN NOT (${isFraction}) THEN ${cast} END`, [fraction, beyond]);
  const upTo = WHOLE_UP_TO[found as 'DOUBLE' | 'FLOAT'];
  const value = `CASE WHEN abs(${x}) <= ${upTo} AND NOT (${isFraction}) THEN ${cast} END`;
  const beyondFloat: Note = ['true', beyondFloats(upTo)];
  return { ...plainValue(x, value, [fraction, beyondFloat]), isThere: isFloat(x) };
}

/** SQL: whether a float is there. pandas writes NaN for a missing value. */
const isFloat = (x: string): string => `NOT isnan(${x})`;

function integerOfText(name: string, x: string): ExactValue {
  const d = quoteName(`digits of ${name}`);
  const whole = `TRY_CAST(split_part(${d}, '.', 1) AS BIGINT)`;
  const upTo = WHOLE_UP_TO.DOUBLE;
  // Programs write a float with at most 17 digits. A whole float has one zero after the point, or an exponent.
  const isRoundedFloat = `${whole} NOT BETWEEN -${upTo} AND ${upTo}
    AND regexp_full_match(${x}, ' *[+-]?([0-9]{1,17}\\.0|[0-9]\\.?[0-9]{0,16}[eE][+-]?[0-9]+) *')`;
  // The first test costs a third of a regular expression.
  const digits = `CASE WHEN CAST(TRY_CAST(${x} AS BIGINT) AS VARCHAR) = ${x} THEN ${x} ELSE ${plainNumber(x)} END`;
  return {
    steps: [{ name: `digits of ${name}`, sql: digits }],
    value: `CASE WHEN NOT contains(${d}, '.') THEN TRY_CAST(${d} AS BIGINT) WHEN regexp_full_match(${d}, '[+-]?[0-9]+\\.0*') AND NOT (${isRoundedFloat}) THEN ${whole} END`,
    isThere: `trim(${x}) <> ''`,
    shown: x,
    notes: [
      [`regexp_matches(${d}, '\\.[0-9]*[1-9]')`, FRACTION],
      [isRoundedFloat, beyondFloats(upTo)],
      [isNumber(x), BEYOND_64_BITS],
      ...textNotes(x),
    ],
  };
}

const AMOUNT = 'DECIMAL(18,6)';

/** Converts an amount to a decimal with six digits after the point: exactly, or rounded half away from zero. */
export function exactAmount(name: string, x: string, found: string, round: boolean): ExactValue {
  const cast = `TRY_CAST(${x} AS ${AMOUNT})`;
  if (isInteger(found)) return plainValue(x, cast, [['true', TOO_LARGE]]);
  const { direct, digits, isThere, notes } = amountForm(x, found, cast);
  const d = quoteName(`digits of ${name}`);
  // DuckDB casts the digits directly, not by way of a float, and rounds half away from zero.
  const rounded = `TRY_CAST(${d} AS ${AMOUNT})`;
  const endsInSix = `regexp_full_match(${d}, '[^.]*\\.[0-9]{0,6}0*')`;
  // The first test is cheaper than the second, and nearly always enough.
  const exact = `WHEN strpos(${d}, '.') NOT BETWEEN 1 AND strlen(${d}) - 7 THEN ${rounded} WHEN ${endsInSix} THEN ${rounded}`;
  const isChanged = `${rounded} IS NOT NULL AND contains(${d}, '.') AND NOT ${endsInSix}`;
  return {
    steps: [{ name: `digits of ${name}`, sql: digits }],
    value: `CASE WHEN ${d} IS NULL THEN ${direct} ${round ? `ELSE ${rounded}` : exact} END`,
    isThere,
    shown: x,
    notes: [
      ...(round ? [[isChanged, ROUNDED] as const] : []),
      [`${d} IS NOT NULL AND ${rounded} IS NULL`, TOO_LARGE],
      [`${d} IS NOT NULL`, TOO_FINE],
      ...notes,
      ['true', TOO_LARGE],
    ],
    ...(round && { isChanged, added: addedTo(d) }),
  };
}

const ROUNDED: Change = ['amount', '', 'rounded to six digits after the point'];

/**
 * SQL for what rounding adds. The digits after the sixth are read as an integer, in units of 10⁻²⁴, because wide
 * decimals would take microseconds each.
 */
function addedTo(digits: string): string {
  const rest = `CAST(rpad(substr(${digits}, strpos(${digits}, '.') + 7, 18), 18, '0') AS BIGINT)`;
  const upwards = `CASE WHEN ${rest} < ${10n ** 18n / 2n} THEN -${rest} ELSE ${10n ** 18n} - ${rest} END`;
  return `CASE WHEN starts_with(${digits}, '-') THEN -1 ELSE 1 END * ${upwards}`;
}

type AmountForm = Pick<ExactValue, 'isThere' | 'notes'> & Readonly<Record<'direct' | 'digits', string>>;

/**
 * The SQL that reads the amounts of one type: `digits`, the amount as digits with a point; `direct`, the amount where
 * `digits` is NULL, or NULL too if the value has no exact amount; and what is said if neither gives an amount.
 */
function amountForm(x: string, found: string, cast: string): AmountForm {
  if (found === 'VARCHAR')
    return { direct: 'NULL', digits: plainNumber(x), isThere: `trim(${x}) <> ''`, notes: textNotes(x) };
  if (found.startsWith('DECIMAL')) {
    // DuckDB takes 2 µs to narrow a decimal of 128 bits, but only a quarter of that by way of a float. The float's
    // result may be wrong, so it is compared with the original.
    const isWide = /^DECIMAL\((19|[23][0-9]),/.test(found);
    const direct = isWide ? `TRY_CAST(CAST(${x} AS DOUBLE) AS ${AMOUNT})` : cast;
    const digits = `CASE WHEN TRY_CAST(${direct} AS ${found}) IS DISTINCT FROM ${x} THEN CAST(${x} AS VARCHAR) END`;
    return { direct, digits, isThere: `${x} IS NOT NULL`, notes: [] };
  }
  // From this number on, the floats of the type lie farther apart than a millionth.
  const below = found === 'FLOAT' ? 2 ** 4 : 2 ** 33;
  const isFine = `abs(${x}) < ${below}`;
  const inexact = `is a ${found === 'FLOAT' ? 'single ' : ''}float from ${below} on, where floats lie farther apart than a millionth: its exact amount is not known. Write decimals at the source`;
  return {
    direct: `CASE WHEN ${isFine} THEN ${cast} END`,
    // A float stands for its shortest decimal: 0.1, not 0.1000000000000000055…. At most one decimal with six digits
    // after the point stands for this float. If there is one, it is the shortest decimal.
    digits: `CASE WHEN ${isFine} AND CAST(${cast} AS ${found}) <> ${x} THEN ${plainNumber(`CAST(${x} AS VARCHAR)`)} END`,
    isThere: isFloat(x),
    notes: [
      [`isinf(${x})`, INFINITE],
      ['true', inexact],
    ],
  };
}
