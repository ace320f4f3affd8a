import { quoteName } from '../../../lib/report/quote-sql.ts';
import {
  type ExactValue,
  isInteger,
  numberFaults,
  plainNumber,
  READ_AS_MISSING,
  type Reason,
  saysMissing,
  type Tally,
} from './exact-value.ts';

const AMOUNT = 'DECIMAL(18,6)';

/** The SQL that reads the amounts of one type. */
interface Form {
  /** SQL for the amount, used only if `digits` is NULL. It gives NULL if the value has no exact amount. */
  readonly direct: string;
  /** SQL for the amount as digits with a point. Absent if `direct` is exact for every value of the type. */
  readonly digits?: string;
  readonly isThere: string;
  /** The possible reasons if neither `direct` nor `digits` gives an amount. */
  readonly reasons: readonly Reason[];
}

/** Converts an amount to a decimal with six digits after the point: exactly, or rounded half away from zero. */
export function exactAmount(name: string, x: string, found: string, round: boolean): ExactValue {
  const form = formOf(x, found);
  const { direct, digits, isThere } = form;
  const whole = { isThere, shown: x };
  if (digits === undefined)
    return { ...whole, steps: [], value: direct, reasons: [...form.reasons, tooLarge('true')], tallies: [] };
  const d = quoteName(`digits of ${name}`);
  // DuckDB casts the digits directly, not by way of a float, and rounds half away from zero.
  const cast = `TRY_CAST(${d} AS ${AMOUNT})`;
  // The first test is cheaper than the second, and nearly always enough.
  const exact = `WHEN strpos(${d}, '.') NOT BETWEEN 1 AND strlen(${d}) - 7 THEN ${cast} WHEN ${endsInSix(d)} THEN ${cast}`;
  return {
    ...whole,
    steps: [{ name: `digits of ${name}`, sql: digits }],
    value: `CASE WHEN ${d} IS NULL THEN ${direct} ${round ? `ELSE ${cast}` : exact} END`,
    reasons: [
      tooLarge(`${d} IS NOT NULL AND ${cast} IS NULL`),
      {
        when: `${d} IS NOT NULL`,
        loss: 'has more than six digits after the point. Say --round to round such amounts to six digits, or round them at the source',
      },
      ...form.reasons,
      tooLarge('true'),
    ],
    tallies: round ? [roundingOf(d, cast)] : [],
  };
}

const tooLarge = (when: string): Reason => ({
  when,
  loss: 'has more than 12 digits before the point, the most that an amount can have. Correct it at the source',
});

const endsInSix = (digits: string): string => `regexp_full_match(${digits}, '[^.]*\\.[0-9]{0,6}0*')`;

function formOf(x: string, found: string): Form {
  const cast = `TRY_CAST(${x} AS ${AMOUNT})`;
  const isThere = `${x} IS NOT NULL`;
  if (isInteger(found)) return { direct: cast, isThere, reasons: [] };
  if (found.startsWith('DECIMAL')) {
    // DuckDB takes 2 µs to narrow a decimal of 128 bits, but only a quarter of that by way of a float. The float's
    // result may be wrong, so it is compared with the original.
    const guess = /^DECIMAL\((19|[23][0-9]),/.test(found)
      ? `TRY_CAST(CAST(${x} AS DOUBLE) AS ${AMOUNT})`
      : cast;
    return {
      direct: guess,
      digits: `CASE WHEN TRY_CAST(${guess} AS ${found}) IS DISTINCT FROM ${x} THEN CAST(${x} AS VARCHAR) END`,
      isThere,
      reasons: [],
    };
  }
  if (found === 'VARCHAR')
    return {
      direct: 'NULL',
      digits: plainNumber(x),
      isThere: `trim(${x}) <> ''`,
      reasons: [{ when: saysMissing(x), change: READ_AS_MISSING }, ...numberFaults(x)],
    };
  // From this number on, the floats of the type lie farther apart than a millionth.
  const below = found === 'FLOAT' ? 2 ** 4 : 2 ** 33;
  const isFine = `abs(${x}) < ${below}`;
  return {
    direct: `CASE WHEN ${isFine} THEN ${cast} END`,
    // A float stands for its shortest decimal: 0.1, not 0.1000000000000000055…. At most one decimal with six digits
    // after the point stands for this float. If there is one, it is the shortest decimal.
    digits: `CASE WHEN ${isFine} AND CAST(${cast} AS ${found}) <> ${x} THEN ${plainNumber(`CAST(${x} AS VARCHAR)`)} END`,
    // pandas writes NaN for a missing value.
    isThere: `NOT isnan(${x})`,
    reasons: [
      { when: `isinf(${x})`, loss: 'is infinite. Correct it at the source' },
      {
        when: 'true',
        loss: `is a ${found === 'FLOAT' ? 'single ' : ''}float from ${below} on, where floats lie farther apart than a millionth: its exact amount is not known. Write decimals at the source`,
      },
    ],
  };
}

/**
 * Counts the rounded amounts, and sums what rounding added. The digits after the sixth are read as an integer, in units
 * of 10⁻²⁴, because wide decimals would take microseconds each.
 */
function roundingOf(digits: string, rounded: string): Tally {
  const isRounded = `${digits} IS NOT NULL AND ${rounded} IS NOT NULL AND contains(${digits}, '.') AND NOT ${endsInSix(digits)}`;
  const rest = `CAST(rpad(substr(${digits}, strpos(${digits}, '.') + 7, 18), 18, '0') AS BIGINT)`;
  const upwards = `CASE WHEN ${rest} < ${10n ** 18n / 2n} THEN -${rest} ELSE ${10n ** 18n} - ${rest} END`;
  const sign = `CASE WHEN starts_with(${digits}, '-') THEN -1 ELSE 1 END`;
  const change = `CASE WHEN ${isRounded} THEN ${sign} * ${upwards} END`;
  return {
    aggregates: [
      `count_if(${isRounded})`,
      `CAST(sum(${change}) AS VARCHAR)`,
      `CAST(max(abs(${change})) AS VARCHAR)`,
    ],
    tell: ([count, added, most]) =>
      count
        ? {
            changes: [
              {
                words: {
                  one: 'amount was rounded to six digits after the point',
                  many: 'amounts were rounded to six digits after the point',
                },
                count: Number(count),
                added: BigInt(added ?? 0),
                most: BigInt(most ?? 0),
              },
            ],
          }
        : {},
  };
}
