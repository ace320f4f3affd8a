import type { Aggregate, Change, Reason, Tally } from './exact-value.ts';
import { saysMissing } from './number-text.ts';
import { TIME_UNITS, type TimeUnit, type UnitRange } from './time-text.ts';
import { type Ambiguous, changeAround, offsetOf, wallClock, type ZoneClocks } from './time-zone.ts';

/** The fault of a record without a time. */
export function missingTime(x: string, found: string): Reason {
  const isMissing = { VARCHAR: ` OR trim(${x}) = '' OR ${saysMissing(x)}`, DOUBLE: ` OR isnan(${x})` }[found];
  return {
    when: `${x} IS NULL${isMissing ?? ''}`,
    loss: 'is missing. Fill it in at the source; nobody else can know it',
  };
}

/** The fault of a number that is no time in any unit. */
export function noUnit(when: string, decided: TimeUnit | undefined): Reason {
  const units = Object.keys(TIME_UNITS);
  return {
    when,
    loss: decided
      ? `is not between 1970 and 9999 if it counts ${decided}. Give another --time-unit, or correct it at the source`
      : `is not between 2000 and May 2033, whether it counts ${units.slice(0, -1).join(', ')} or ${units.at(-1)} since 1970. Say what it counts: --time-unit ${units.join('|')}; or write times like 2026-01-31T23:59:59Z`,
  };
}

/** The faults of local times that do not exist, or occur twice, because the clocks change. */
export function localFaults(local: string, clocks: ZoneClocks): Reason[] {
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
export const otherFaults = (time: string): Reason[] => [
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
export function localTally(
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
export function numberTally(
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
