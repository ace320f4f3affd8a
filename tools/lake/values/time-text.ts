import { isNumber, plainNumber } from './exact-value.ts';

const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const CLOCK = '[ T][0-9]{2}:[0-9]{2}';
const SECONDS = ':[0-9]{2}(\\.[0-9]{1,9})?';
const OFFSET = '( ?(Z|UTC)|[+-][01][0-9](:?[0-5][0-9])?)';

/** The forms of a time: without an offset, with an offset, or as a number. */
const [LOCAL, WITH_OFFSET, NUMBER] = [0, 1, 2];

/**
 * SQL: the form of a text. LIKE finds the usual forms first, because a regular expression costs twice as much. `_`
 * matches any character, so texts that end in `5Z`, `.12Z` or `.+01` are left to the regular expressions.
 */
export const timeForm = (x: string): string =>
  `CASE WHEN ${x} LIKE '____-__-_____:__:__' AND NOT suffix(${x}, 'Z') THEN ${LOCAL}
    WHEN ${x} LIKE '____-__-_____:__:__.___' AND NOT (suffix(${x}, 'Z') OR contains(${x}, '.+') OR contains(${x}, '.-')) THEN ${LOCAL}
    WHEN ${x} LIKE '____-__-_____:__:__Z' OR ${x} LIKE '____-__-_____:__:__.___Z' THEN ${WITH_OFFSET}
    WHEN regexp_full_match(${x}, ' *${DAY}(${CLOCK}(${SECONDS})?)? *') THEN ${LOCAL}
    WHEN regexp_full_match(${x}, ' *${DAY}${CLOCK}${SECONDS}${OFFSET} *') THEN ${WITH_OFFSET}
    WHEN ${isNumber(x)} THEN ${NUMBER} END`;

/** SQL that reads a text of each form. It gives NULL for texts of the other forms. */
export const timesOfText = (x: string, form: string) => {
  // DuckDB can't read a text in which a blank follows a date without a time, or a time without seconds.
  const trimmed = `CASE WHEN ${x} LIKE '% ' THEN trim(${x}) ELSE ${x} END`;
  return {
    local: `CASE WHEN ${form} = ${LOCAL} THEN TRY_CAST(${trimmed} AS TIMESTAMP) END`,
    instant: `CASE WHEN ${form} = ${WITH_OFFSET} THEN make_timestamp(epoch_us(TRY_CAST(${trimmed} AS TIMESTAMPTZ))) END`,
    digits: `CASE WHEN ${form} = ${NUMBER} THEN ${plainNumber(x)} END`,
  };
};

/** How many of each unit make a second. */
const TIME_UNITS = {
  seconds: 1n,
  milliseconds: 1_000n,
  microseconds: 1_000_000n,
  nanoseconds: 1_000_000_000n,
};

export type TimeUnit = keyof typeof TIME_UNITS;

export const UNITS = Object.keys(TIME_UNITS) as TimeUnit[];

/**
 * The range of seconds for numbers whose unit the operator does not give: from 2000-01-01 to 2033-05-18. It ends at
 * 2,000,000,000, because a larger number may be a written date and hour, such as 2026013112.
 */
const JUDGED = [946_684_800n, 2_000_000_000n] as const;

/** The range of seconds for numbers whose unit the operator gives: from 1970 to 9999. */
const DECIDED = [0n, 253_402_300_800n] as const;

const LAST = 2n ** 63n - 1n;

/**
 * The units that a number may have, each with SQL that tells whether the number can be an instant in it, and for the
 * milliseconds since 1970, without finer parts. A unit that the operator has named is the only one. Otherwise the ranges
 * of the units do not overlap.
 *
 * @param number SQL for the number's whole part, a BIGINT
 * @param thousandths SQL for the number's first three digits after the point, an integer
 */
export function unitRanges(number: string, thousandths: string, decided: TimeUnit | undefined) {
  const [from, to] = decided ? DECIDED : JUDGED;
  return (decided ? [decided] : UNITS).map((unit) => {
    const perSecond = TIME_UNITS[unit];
    const end = to * perSecond;
    const holds = `(${number} >= ${from * perSecond} AND ${number} < ${end < LAST ? end : LAST})`;
    const whole = `${number} // ${perSecond / 1000n}`;
    return { unit, holds, milliseconds: perSecond === 1n ? `${number} * 1000 + ${thousandths}` : whole };
  });
}
