import { quoteName } from '../../../lib/report/quote-sql.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import {
  type ExactValue,
  isNumber,
  type Note,
  plainNumber,
  saysMissing,
  type ValueChange,
} from './exact-value.ts';
import { type Ambiguous, changeWords, offsetOf, type ZoneClocks } from './time-zone.ts';

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
const timeForm = (x: string): string =>
  `CASE WHEN ${x} LIKE '____-__-_____:__:__' AND NOT suffix(${x}, 'Z') THEN ${LOCAL}
    WHEN ${x} LIKE '____-__-_____:__:__.___' AND NOT (suffix(${x}, 'Z') OR contains(${x}, '.+') OR contains(${x}, '.-')) THEN ${LOCAL}
    WHEN ${x} LIKE '____-__-_____:__:__Z' OR ${x} LIKE '____-__-_____:__:__.___Z' THEN ${WITH_OFFSET}
    WHEN regexp_full_match(${x}, ' *${DAY}(${CLOCK}(${SECONDS})?)? *') THEN ${LOCAL}
    WHEN regexp_full_match(${x}, ' *${DAY}${CLOCK}${SECONDS}${OFFSET} *') THEN ${WITH_OFFSET}
    WHEN ${isNumber(x)} THEN ${NUMBER} END`;

/** SQL that reads a text of each form. It gives NULL for texts of the other forms. */
const timesOfText = (x: string, form: string) => {
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
function unitRanges(number: string, thousandths: string, decided: TimeUnit | undefined) {
  const [from, to] = decided ? DECIDED : JUDGED;
  return (decided ? [decided] : UNITS).map((unit) => {
    const perSecond = TIME_UNITS[unit];
    const end = to * perSecond;
    const holds = `(${number} >= ${from * perSecond} AND ${number} < ${end < LAST ? end : LAST})`;
    const whole = `${number} // ${perSecond / 1000n}`;
    return { unit, holds, milliseconds: perSecond === 1n ? `${number} * 1000 + ${thousandths}` : whole };
  });
}

export interface TimeOptions {
  /** The unit of numbers in the column of times, counted since 1970. */
  readonly timeUnit?: TimeUnit | undefined;
  /** The clocks of times that are written without an offset. By default, they are UTC. */
  readonly clocks?: ZoneClocks | undefined;
  /** Which instant is meant by a local time that occurs twice because clocks go back. */
  readonly ambiguous?: Ambiguous | undefined;
}

/** How a time was read: as an instant, as a local time, as one that comes twice, or as a number in a unit. */
export type TimeKind = 'instant' | 'local' | 'twice' | TimeUnit;

/** The times of a file that were read in one way: their number, the first and the last. */
export type TimesOfKind = Required<Pick<ValueChange, 'count' | 'range'>>;

export interface ExactInstant extends ExactValue {
  /** SQL for each time's kind. NULL for a value that is no time. */
  readonly kind: string;
  /** Judges a file by the kinds of all its times: a text for a loss, and else the changes. */
  readonly judge: (kinds: ReadonlyMap<TimeKind, TimesOfKind>) => string | readonly ValueChange[];
}

/**
 * SQL for the forms that a time can have in a file: without an offset, as TIMESTAMP; with an offset, as TIMESTAMP in
 * UTC; or a number, as digits with a point. For a value, at most one of them is not NULL.
 */
type Said = Readonly<Partial<Record<'local' | 'instant' | 'digits', string>>>;

/** Times are cut, not rounded, to the millisecond, so that they stay in their hour and their day. */
export function exactInstant(name: string, x: string, found: string, options: TimeOptions): ExactInstant {
  const { timeUnit, ambiguous } = options;
  const sql = (what: string) => quoteName(`${what} of ${name}`);
  const [local, offset, digits, time] = [sql('local'), sql('offset'), sql('digits'), sql('time')];
  const said = found === 'VARCHAR' ? timesOfText(x, sql('form')) : saidBy(x, found);
  const clocks = said.local && options.clocks;
  const units = said.digits ? unitRanges(sql('number'), sql('thousandths'), timeUnit) : [];
  const ofUnits = units.map(({ holds, milliseconds }) => `WHEN ${holds} THEN ${milliseconds}`);
  const times = [
    said.instant && sql('instant'),
    said.local && (clocks ? `(${local} - to_seconds(${offset}))` : local),
    said.digits && `make_timestamp_ms(CASE ${ofUnits.join(' ')} END)`,
  ].filter(Boolean);
  const steps = {
    form: found === 'VARCHAR' && timeForm(x),
    ...said,
    number: said.digits && wholePart(digits),
    thousandths: said.digits && thousandthsOf(digits),
    offset: clocks && offsetOf(local, clocks, ambiguous),
    time: `coalesce(${times.join(', ')})`,
  };
  const kinds = [
    ...units.map(({ unit, holds }) => `WHEN ${holds} THEN '${unit}'`),
    clocks && ambiguous && `WHEN ${offset} IS NOT NULL AND ${offsetOf(local, clocks)} IS NULL THEN 'twice'`,
    said.local && `WHEN ${local} IS NOT NULL THEN 'local'`,
    said.instant && `WHEN ${sql('instant')} IS NOT NULL THEN 'instant'`,
  ].filter(Boolean);
  return {
    steps: Object.entries(steps).flatMap(([what, text]) =>
      text ? [{ name: `${what} of ${name}`, sql: text }] : [],
    ),
    value: `CASE WHEN ${time} BETWEEN TIMESTAMP '1970-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN CAST(make_timestamp_ms(epoch_ms(${time})) AS TIMESTAMP_MS) END`,
    isThere: 'true',
    shown: x,
    notes: [
      missingTime(x, found),
      ...(said.digits ? [[`${digits} IS NOT NULL`, noUnit(timeUnit)] as const] : []),
      ...(clocks ? localFaults(local, clocks) : []),
      [`${time} IS NOT NULL`, 'is before 1970 or after 9999. Correct it at the source'],
      ['true', NO_TIME],
    ],
    kind: `CASE ${kinds.join(' ')} END`,
    judge: (found) => judgeTimes(found, options),
  };
}

const NO_TIME =
  'is no time like 2026-01-31 23:59:59.999, 2026-01-31T23:59:59Z or 2026-01-31T23:59:59+01:00. Write it so at the source';

function saidBy(x: string, found: string): Said {
  if (/^(DATE|TIMESTAMP(_MS|_NS)?)$/.test(found)) return { local: `CAST(${x} AS TIMESTAMP)` };
  // INT96 is Spark's old form of an instant, although DuckDB reads it as a time without a zone.
  if (found === 'INT96') return { instant: `CAST(${x} AS TIMESTAMP)` };
  // This is the cheapest conversion to UTC. AT TIME ZONE costs 25 times as much.
  if (found === 'TIMESTAMP WITH TIME ZONE') return { instant: `make_timestamp(epoch_us(${x}))` };
  // A float or a decimal is made text and then cut to the millisecond, because a cast would round it.
  const digits = `CAST(${x} AS VARCHAR)`;
  return { digits: found === 'DOUBLE' ? plainNumber(digits) : digits };
}

/** SQL for the digits before the point, as an integer. NULL for a number below 0. */
const wholePart = (digits: string): string =>
  `CASE WHEN NOT starts_with(${digits}, '-') THEN TRY_CAST(split_part(${digits}, '.', 1) AS BIGINT) END`;

const thousandthsOf = (digits: string): string =>
  `CASE WHEN contains(${digits}, '.') THEN CAST(rpad(left(split_part(${digits}, '.', 2), 3), 3, '0') AS INTEGER) ELSE 0 END`;

/** The fault of a record without a time. */
function missingTime(x: string, found: string): Note {
  const isMissing = { VARCHAR: ` OR trim(${x}) = '' OR ${saysMissing(x)}`, DOUBLE: ` OR isnan(${x})` }[found];
  return [`${x} IS NULL${isMissing ?? ''}`, 'is missing. Fill it in at the source; nobody else can know it'];
}

/** The fault of a number that is no time in any unit. */
const noUnit = (decided: TimeUnit | undefined): string =>
  decided
    ? `is not between 1970 and 9999 if it counts ${decided}. Give another --time-unit, or correct it at the source`
    : `is not between 2000 and May 2033, whether it counts ${UNITS.slice(0, -1).join(', ')} or ${UNITS.at(-1)} since 1970. Say what it counts: --time-unit ${UNITS.join('|')}; or write times like 2026-01-31T23:59:59Z`;

/** The faults of local times that do not exist, or occur twice, because the clocks change. */
function localFaults(local: string, clocks: ZoneClocks): Note[] {
  const clockAt = (example: string) => changeWords(clocks, example);
  return [
    [
      `${local} IS NOT NULL AND ${offsetOf(local, clocks, 'earlier')} IS NULL`,
      (example) =>
        `does not exist in ${clockAt(example)}. Correct it at the source, or say another --time-zone`,
    ],
    [
      `${local} IS NOT NULL AND ${offsetOf(local, clocks)} IS NULL`,
      (example) =>
        `comes twice in ${clockAt(example)}. Write the offset at the source, or say which is meant: --ambiguous earlier or --ambiguous later`,
    ],
  ];
}

/** Decides from a whole column which unit its numbers count, and tells how its times were read. */
function judgeTimes(
  kinds: ReadonlyMap<TimeKind, TimesOfKind>,
  { timeUnit, clocks, ambiguous }: TimeOptions,
): string | readonly ValueChange[] {
  const count = (...of: readonly TimeKind[]) =>
    of.reduce((sum, kind) => sum + (kinds.get(kind)?.count ?? 0), 0);
  const units = UNITS.filter((unit) => kinds.has(unit));
  if (units.length > 1)
    return `its numbers seem to count different units since 1970: ${units.map((unit) => `${counted(count(unit), 'fits', 'fit')} ${unit}`).join(', ')}. If all count the same, say which: --time-unit; else write them in one unit at the source`;
  const [numbers, texts] = [count(...units), count('instant', 'local', 'twice')];
  if (numbers > 0 && texts > 0 && !timeUnit)
    return `${counted(numbers, 'number stands', 'numbers stand')} among ${counted(texts, 'written time')}. Say what the numbers count: --time-unit; or write all as times at the source`;
  const zone = clocks
    ? `taken as local time of ${clocks.zone}`
    : 'taken as UTC; if they are local times, say --time-zone, for example Europe/Berlin';
  const judged = timeUnit ? '' : ' (if they count something else, say --time-unit)';
  const unit = kinds.get(units[0] ?? 'seconds');
  const changes: ValueChange[] = [
    { count: count('local', 'twice'), says: ['time', ' without an offset', zone] },
    {
      count: count('twice'),
      says: ['time', ` in the hour that comes twice in ${clocks?.zone}`, `taken as the ${ambiguous}`],
    },
    { count: numbers, ...unit, says: ['number', '', `read as ${units[0]} since 1970${judged}`] },
  ];
  return changes.filter((change) => change.count > 0);
}
