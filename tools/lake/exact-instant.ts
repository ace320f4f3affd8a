import { quoteName } from '../../lib/report/quote-sql.ts';
import { type ExactValue, isInteger, type NoValue, type Reason } from './exact-value.ts';
import { saysMissing } from './number-faults.ts';
import { plainNumber } from './number-text.ts';
import { localTally, numberTally } from './time-tallies.ts';
import { timeForm, timesOfText } from './time-text.ts';
import { TIME_UNITS, type TimeUnit, unitRanges } from './time-units.ts';
import {
  type Ambiguous,
  changeAround,
  offsetOf,
  wallClock,
  type ZoneClocks,
  zoneClocks,
} from './time-zone.ts';

export interface TimeOptions {
  /** What numbers in the column of times count since 1970. */
  readonly timeUnit?: TimeUnit;
  /** IANA name of the zone of times that are written without an offset. Without it they are UTC. */
  readonly timeZone?: string;
  /** Which instant is meant by a local time that comes twice, when clocks go back. */
  readonly ambiguous?: Ambiguous;
}

/** SQL for what a file's value says: one of them is not NULL. */
interface Said {
  /** A time without an offset, as TIMESTAMP. */
  readonly local?: string;
  /** A time with an offset, as TIMESTAMP in UTC. */
  readonly instant?: string;
  /** A number, as digits with a point. */
  readonly digits?: string;
}

/** Times are cut to the millisecond, so that they keep their hour and their day. */
export function exactInstant(
  name: string,
  x: string,
  found: string,
  { timeUnit, timeZone, ambiguous }: TimeOptions,
): ExactValue | NoValue {
  const nameOf = (what: string) => `${what} of ${name}`;
  const sql = (what: string) => quoteName(nameOf(what));
  const said = found === 'VARCHAR' ? timesOfText(x, sql('form')) : saidBy(x, found);
  if ('cure' in said) return said;
  const clocks = said.local && timeZone ? zoneClocks(timeZone) : undefined;
  const units = said.digits ? unitRanges(sql('number'), timeUnit) : [];
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
    ['number', said.digits && toThousandths(sql('digits'))],
    ['offset', offset],
    ['time', times.length > 1 ? `coalesce(${times.join(', ')})` : times[0]],
  ] as const;
  return {
    steps: steps.flatMap(([what, text]) => (text ? [{ name: nameOf(what), sql: text }] : [])),
    value: `CASE WHEN ${sql('time')} BETWEEN TIMESTAMP '1970-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN CAST(make_timestamp_ms(epoch_ms(${sql('time')})) AS TIMESTAMP_MS) END`,
    isThere: 'true',
    shown: x,
    reasons: [
      missing(x, found),
      ...(said.digits ? [noUnit(sql('number'), timeUnit)] : []),
      ...(clocks ? localReasons(sql('local'), clocks) : []),
      { when: `${sql('time')} IS NOT NULL`, loss: 'is before 1970 or after 9999. Correct it at the source' },
      { when: 'true', loss: NO_TIME },
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

const NO_TIME =
  'is no time like 2026-01-31 23:59:59.999, 2026-01-31T23:59:59Z or 2026-01-31T23:59:59+01:00. Write it so at the source';

function saidBy(x: string, found: string): Said | NoValue {
  // What a float or a decimal holds beyond the millisecond is cut off as digits, since a cast would round.
  const digits = `CAST(${x} AS VARCHAR)`;
  if (/^(DATE|TIMESTAMP(_S|_MS|_NS)?)$/.test(found)) return { local: `CAST(${x} AS TIMESTAMP)` };
  // Of the ways to UTC this is the cheapest: AT TIME ZONE costs 25 times as much.
  if (found === 'TIMESTAMP WITH TIME ZONE') return { instant: `make_timestamp(epoch_us(${x}))` };
  if (isInteger(found) || found.startsWith('DECIMAL')) return { digits };
  if (found === 'DOUBLE') return { digits: plainNumber(digits) };
  if (found === 'FLOAT')
    return {
      cure: 'A single float is minutes away from the time that it stands for. Write integers or timestamps.',
    };
  return { cure: 'Write timestamps.' };
}

/** SQL: the number with its first three digits after the point. */
const toThousandths = (digits: string): string =>
  `TRY_CAST(CASE WHEN contains(${digits}, '.') THEN left(${digits}, strpos(${digits}, '.') + 3) ELSE ${digits} END AS DECIMAL(22,3))`;

function missing(x: string, found: string): Reason {
  const isMissing = { VARCHAR: ` OR trim(${x}) = '' OR ${saysMissing(x)}`, DOUBLE: ` OR isnan(${x})` }[found];
  return {
    when: `${x} IS NULL${isMissing ?? ''}`,
    loss: 'is missing. Fill it in at the source; nobody else can know it',
  };
}

function noUnit(number: string, decided: TimeUnit | undefined): Reason {
  const units = Object.keys(TIME_UNITS);
  return {
    when: `${number} IS NOT NULL`,
    loss: decided
      ? `is not between 1970 and 9999 if it counts ${decided}. Give another --time-unit, or correct it at the source`
      : `is not between 2000 and May 2033, whether it counts ${units.slice(0, -1).join(', ')} or ${units.at(-1)} since 1970. Say what it counts: --time-unit ${units.join('|')}; or write times like 2026-01-31T23:59:59Z`,
  };
}

/** Local times that no instant has, or two. */
function localReasons(local: string, clocks: ZoneClocks): Reason[] {
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
