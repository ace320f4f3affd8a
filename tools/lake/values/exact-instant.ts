import { quoteName } from '../../../lib/report/quote-sql.ts';
import type { ExactValue } from './exact-value.ts';
import { plainNumber } from './number-text.ts';
import { localFaults, localTally, missingTime, noUnit, numberTally, otherFaults } from './time-faults.ts';
import { type TimeUnit, timeForm, timesOfText, unitRanges } from './time-text.ts';
import { type Ambiguous, offsetOf, zoneClocks } from './time-zone.ts';

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
