import { quoteName } from '../../../lib/report/quote-sql.ts';
import {
  type ExactValue,
  isInteger,
  isNumber,
  numberFaults,
  plainNumber,
  READ_AS_MISSING,
  type Reason,
  saysMissing,
} from './exact-value.ts';

const beyond64Bits = (when: string): Reason => ({
  when,
  loss: 'needs more than the 64 bits of a whole number. Correct it at the source',
});

const fraction = (when: string): Reason => ({
  when,
  loss: 'is no whole number. Identifiers and counts have no fraction: correct it at the source',
});

/** The largest numbers up to which doubles and single floats can hold every whole number. */
const EXACT_UP_TO = { DOUBLE: 2n ** 53n - 1n, FLOAT: 2n ** 24n - 1n };

const beyondFloats = (upTo: bigint): string =>
  `is beyond ${upTo}, where a float no longer holds every whole number: it may have been another. Write integers at the source`;

/** Converts identifiers and counts to signed 64-bit integers. */
export function exactInteger(name: string, x: string, found: string): ExactValue {
  if (found === 'VARCHAR') return fromText(name, x);
  const value = `TRY_CAST(${x} AS BIGINT)`;
  const plain = { steps: [], isThere: `${x} IS NOT NULL`, shown: x, tallies: [] };
  if (isInteger(found)) return { ...plain, value, reasons: [beyond64Bits('true')] };
  const hasFraction = `${x} <> trunc(${x})`;
  const reasons = [fraction(hasFraction), beyond64Bits('true')];
  if (found.startsWith('DECIMAL'))
    return { ...plain, value: `CASE WHEN NOT (${hasFraction}) THEN ${value} END`, reasons };
  const upTo = found === 'FLOAT' ? EXACT_UP_TO.FLOAT : EXACT_UP_TO.DOUBLE;
  return {
    ...plain,
    value: `CASE WHEN abs(${x}) <= ${upTo} AND ${x} = trunc(${x}) THEN ${value} END`,
    // pandas writes NaN for a missing value.
    isThere: `NOT isnan(${x})`,
    reasons: [
      ...reasons.slice(0, 1),
      {
        when: 'true',
        loss: beyondFloats(upTo),
      },
    ],
  };
}

function fromText(name: string, x: string): ExactValue {
  const digits = `digits of ${name}`;
  const d = quoteName(digits);
  const whole = `TRY_CAST(split_part(${d}, '.', 1) AS BIGINT)`;
  const upTo = EXACT_UP_TO['DOUBLE'] as bigint;
  // Programs write a float with at most 17 digits. A whole float has one zero after the point, or an exponent.
  const isFloat = `regexp_full_match(${x}, ' *[+-]?([0-9]{1,17}\\.0|[0-9]\\.?[0-9]{0,16}[eE][+-]?[0-9]+) *')`;
  const isRoundedFloat = `${whole} NOT BETWEEN -${upTo} AND ${upTo} AND ${isFloat}`;
  return {
    steps: [
      {
        name: digits,
        // The first test costs a third of a regular expression.
        sql: `CASE WHEN CAST(TRY_CAST(${x} AS BIGINT) AS VARCHAR) = ${x} THEN ${x} ELSE ${plainNumber(x)} END`,
      },
    ],
    value: `CASE WHEN NOT contains(${d}, '.') THEN TRY_CAST(${d} AS BIGINT) WHEN regexp_full_match(${d}, '[+-]?[0-9]+\\.0*') AND NOT (${isRoundedFloat}) THEN ${whole} END`,
    isThere: `trim(${x}) <> ''`,
    shown: x,
    reasons: [
      { when: saysMissing(x), change: READ_AS_MISSING },
      fraction(`regexp_matches(${d}, '\\.[0-9]*[1-9]')`),
      { when: isRoundedFloat, loss: beyondFloats(upTo) },
      beyond64Bits(isNumber(x)),
      ...numberFaults(x),
    ],
    tallies: [],
  };
}
