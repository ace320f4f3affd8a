import { quoteName } from '../../../lib/report/quote-sql.ts';
import type { Aggregate, Change, ExactValue, Reason, Tally } from './exact-value.ts';
import { plainNumber, saysMissing } from './exact-value.ts';
import { TIME_UNITS, type TimeUnit, timeForm, timesOfText, type UnitRange, unitRanges } from './time-text.ts';
import {
  type Ambiguous,
  changeAround,
  offsetOf,
  wallClock,
  type ZoneClocks,
  zoneClocks,
} from './time-zone.ts';

export interface TimeOptions {
  /** The unit of numbers in the column of times, counted since 1970. */
  readonly timeUnit?: TimeUnit;
  /** The IANA name of the zone of times that are written without an offset. By default, they are UTC. */
  readonly timeZone?: string;
  /** Which instant is meant by a local time that occurs twice because clocks go back. */
  readonly ambiguous?: Ambiguous;
}

/** SQL for the forms that a time can have in a file. For a value, at most one of them is not NULL. */
interface Said {
  /** A time without an offset, as TIMESTAMP. */
  readonly local?: string;
  /** A time with an offset, as TIMESTAMP in UTC. */
  readonly instant?: string;
  /** A number, as digits with a point. */
  readonly digits?: string;
}

/** Times are cut, not rounded, to the millisecond, so that they stay in their hour and their day. */
export function exactInstant(
  name: string,
  x: string,
  found: string,
  { timeUnit, timeZone, ambiguous }: TimeOptions,
): ExactValue {
  const nameOf = (what: string) => `${what} of ${name}`;
  const sql = (what: string) => quoteName(nameOf(what));
  const said = found === 'VARCHAR' ? timesOfText(x, sql('form')) : saidBy(x, found);
  const clocks = said.local && timeZone ? zoneClocks(timeZone) : undefined;
  const units = said.digits ? unitRanges(sql('number'), sql('thousandths'), timeUnit) : [];
  const offset = clocks && offsetOf(sql('local'), clocks, ambiguous);
  const times = [
    ...(said.instant ? [sql('instant')] : []),
    ...(said.local ? [clocks ? `(${sql('local')} - to_seconds(${sql('offset')}))` : sql('local')] : []),
    ...(said.digits
      ? [
          `make_timestamp_ms(CASE ${units.map(({ holds, milliseconds }) => `WHEN ${holds} THEN ${milliseconds}`).join(' ')} END)`,
        ]
      : []),
  ];
  const steps = [
    ['form', found === 'VARCHAR' && timeForm(x)],
    ['local', said.local],
    ['instant', said.instant],
    ['digits', said.digits],
    ['number', said.digits && wholePart(sql('digits'))],
    ['thousandths', said.digits && thousandthsOf(sql('digits'))],
    ['offset', offset],
    ['time', times.length > 1 ? `coalesce(${times.join(', ')})` : times[0]],
  ] as const;
  return {
    steps: steps.flatMap(([what, text]) => (text ? [{ name: nameOf(what), sql: text }] : [])),
    value: `CASE WHEN ${sql('time')} BETWEEN TIMESTAMP '1970-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN CAST(make_timestamp_ms(epoch_ms(${sql('time')})) AS TIMESTAMP_MS) END`,
    isThere: 'true',
    shown: x,
    reasons: [
      missingTime(x, found),
      ...(said.digits ? [noUnit(`${sql('digits')} IS NOT NULL`, timeUnit)] : []),
      ...(clocks ? localFaults(sql('local'), clocks) : []),
      ...otherFaults(sql('time')),
    ],
    tallies: [
      ...(said.local ? [localTally(sql('local'), sql('offset'), clocks, ambiguous)] : []),
      ...(said.digits
        ? [
            numberTally(
              sql('number'),
              sql('time'),
              units,
              found === 'VARCHAR' ? `coalesce(${sql('local')}, ${sql('instant')})` : 'NULL',
              timeUnit,
            ),
          ]
        : []),
    ],
  };
}

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
function missingTime(x: string, found: string): Reason {
  const isMissing = { VARCHAR: ` OR trim(${x}) = '' OR ${saysMissing(x)}`, DOUBLE: ` OR isnan(${x})` }[found];
  return {
    when: `${x} IS NULL${isMissing ?? ''}`,
    loss: 'is missing. Fill it in at the source; nobody else can know it',
  };
}

/** The fault of a number that is no time in any unit. */
function noUnit(when: string, decided: TimeUnit | undefined): Reason {
  const units = Object.keys(TIME_UNITS);
  return {
    when,
    loss: decided
      ? `is not between 1970 and 9999 if it counts ${decided}. Give another --time-unit, or correct it at the source`
      : `is not between 2000 and May 2033, whether it counts ${units.slice(0, -1).join(', ')} or ${units.at(-1)} since 1970. Say what it counts: --time-unit ${units.join('|')}; or write times like 2026-01-31T23:59:59Z`,
  };
}

/** The faults of local times that do not exist, or occur twice, because the clocks change. */
function localFaults(local: string, clocks: ZoneClocks): Reason[] {
  const clockAt = (example: string) => {
    const text = example.trim().replace(' ', 'T');
    const change = changeAround(clocks, Date.parse(`${text.length === 10 ? `${text}T00:00` : text}Z`));
    if (!change) return clocks.zone;
    const { at, before, after } = change;
    return `${clocks.zone}, where clocks went ${after > before ? 'forward' : 'back'} from ${wallClock(at + before)} to ${wallClock(at + after)}`;
  };
  return [
    {
      when: `${local} IS NOT NULL AND ${offsetOf(local, clocks, 'earlier')} IS NULL`,
      loss: (example) =>
        `does not exist in ${clockAt(example)}. Correct it at the source, or say another --time-zone`,
    },
    {
      when: `${local} IS NOT NULL AND ${offsetOf(local, clocks)} IS NULL`,
      loss: (example) =>
        `comes twice in ${clockAt(example)}. Write the offset at the source, or say which is meant: --ambiguous earlier or --ambiguous later`,
    },
  ];
}

/** The remaining faults of a time. @param time SQL for the instant, which is NULL if the value gives none */
const otherFaults = (time: string): Reason[] => [
  { when: `${time} IS NOT NULL`, loss: 'is before 1970 or after 9999. Correct it at the source' },
  {
    when: 'true',
    loss: 'is no time like 2026-01-31 23:59:59.999, 2026-01-31T23:59:59Z or 2026-01-31T23:59:59+01:00. Write it so at the source',
  },
];

const numberOf = (count: Aggregate | undefined): number => Number(count ?? 0);

/**
 * Counts the times without an offset, and says in which zone they were read. Also counts the times that occur twice in
 * this zone, and says which of the two instants was taken.
 *
 * @param offset SQL: the offset that was chosen for a local time
 */
function localTally(
  local: string,
  offset: string,
  clocks: ZoneClocks | undefined,
  ambiguous?: Ambiguous,
): Tally {
  const isTwice =
    clocks &&
    ambiguous &&
    `${local} IS NOT NULL AND ${offset} IS NOT NULL AND ${offsetOf(local, clocks)} IS NULL`;
  const takenAs = clocks
    ? `taken as local time of ${clocks.zone}`
    : 'taken as UTC; if they are local times, say --time-zone, for example Europe/Berlin';
  return {
    aggregates: [`count(${local})`, isTwice ? `count_if(${isTwice})` : '0'],
    tell: ([count, twice]) => ({
      changes: [
        changeOf(count, `without an offset was ${takenAs}`, `without an offset were ${takenAs}`),
        changeOf(
          twice,
          `comes twice in ${clocks?.zone}: the ${ambiguous} was taken`,
          `come twice in ${clocks?.zone}: the ${ambiguous} ones were taken`,
        ),
      ].flat(),
    }),
  };
}

function changeOf(count: Aggregate | undefined, one: string, many: string): Change[] {
  return count ? [{ words: { one: `time ${one}`, many: `times ${many}` }, count: Number(count) }] : [];
}

/** Decides from the whole column which unit its numbers count. */
function numberTally(
  number: string,
  time: string,
  units: readonly UnitRange[],
  written: string,
  decided: TimeUnit | undefined,
): Tally {
  return {
    aggregates: [
      `count(${written})`,
      `CAST(min(${time}) FILTER (${number} IS NOT NULL) AS VARCHAR)`,
      `CAST(max(${time}) FILTER (${number} IS NOT NULL) AS VARCHAR)`,
      ...units.map(({ holds }) => `count_if(${holds})`),
    ],
    tell: ([texts, first, last, ...counts]) => {
      const found = units
        .map(({ unit }, index) => ({ unit, count: numberOf(counts[index]) }))
        .filter(({ count }) => count > 0);
      const [judged] = found;
      if (!judged) return {};
      if (found.length > 1) return { losses: [mixedUnits(found)] };
      if (numberOf(texts) > 0 && !decided)
        return { losses: [numbersAmongTimes(judged.count, numberOf(texts))] };
      const readAs = `read as ${judged.unit} since 1970${decided ? '' : ' (if they count something else, say --time-unit)'}`;
      return {
        changes: [
          {
            words: { one: `number was ${readAs}`, many: `numbers were ${readAs}` },
            count: judged.count,
            range: [String(first), String(last)],
          },
        ],
      };
    },
  };
}

const mixedUnits = (found: readonly { readonly unit: TimeUnit; readonly count: number }[]): string =>
  `its numbers seem to count different units since 1970: ${found.map(({ unit, count }) => `${counted(count, 'fits', 'fit')} ${unit}`).join(', ')}. ` +
  'If all count the same, say which: --time-unit; else write them in one unit at the source';

const numbersAmongTimes = (numbers: number, texts: number): string =>
  `${counted(numbers, 'number stands', 'numbers stand')} among ${counted(texts, 'written time', 'written times')}. ` +
  'Say what the numbers count: --time-unit; or write all as times at the source';

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
