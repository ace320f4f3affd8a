import { isNumber, plainNumber } from './number-text.ts';

const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const CLOCK = '[ T][0-9]{2}:[0-9]{2}';
const SECONDS = ':[0-9]{2}(\\.[0-9]{1,9})?';
const OFFSET = '( ?(Z|UTC)|[+-][01][0-9](:?[0-5][0-9])?)';

/** The forms of a time: without an offset, with an offset, or as a number. */
const LOCAL = 0;
const WITH_OFFSET = 1;
const NUMBER = 2;

/**
 * SQL: the form of a text. LIKE finds the usual forms first, because a regular expression costs twice as much. `_`
 * matches any character, so texts that end in `5Z`, `.12Z` or `.+01` are left to the regular expressions.
 */
export const timeForm = (x: string): string =>
  `CASE WHEN ${x} LIKE '____-__-_____:__:__' AND NOT suffix(${x}, 'Z') THEN ${LOCAL}
    WHEN ${x} LIKE '____-__-_____:__:__.___' AND NOT (suffix(${x}, 'Z') OR contains(${x}, '.+') OR contains(${x}, '.-')) THEN ${LOCAL}
    WHEN ${x} LIKE '____-__-_____:__:__Z' THEN ${WITH_OFFSET}
    WHEN ${x} LIKE '____-__-_____:__:__.___Z' THEN ${WITH_OFFSET}
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
