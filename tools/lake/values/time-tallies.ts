import type { Aggregate, Change, Tally } from './exact-value.ts';
import type { TimeUnit, UnitRange } from './time-units.ts';
import { type Ambiguous, offsetOf, type ZoneClocks } from './time-zone.ts';

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
