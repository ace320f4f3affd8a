import type { Struct } from './column-types.ts';
import type { Bound, ColumnStatistics, Footer } from './lake-facts.ts';

export const isBelow = (one: Bound, other: Bound): boolean =>
  typeof one === 'bigint' || typeof other === 'bigint' ? one < other : Buffer.compare(one, other) < 0;

/**
 * The statistics of a column whose type has these words. A row group may have two pairs of bounds, because the format
 * has an older one. Readers differ in which they take, so the narrower bounds count.
 */
export function statisticsOf(words: string, ofGroups: readonly Struct[]): ColumnStatistics {
  const bound = boundOf(words);
  // Some writers leave a bound empty.
  const least = { INT32: 4, INT64: 8 }[words.split(' ')[0] ?? ''] ?? (words.includes('DECIMAL') ? 1 : 0);
  const narrower = (one: Uint8Array | undefined, other: Uint8Array | undefined, sign: 1 | -1) => {
    const [a, b] = [one, other].map((value) => (value && value.length >= least ? bound(value) : undefined));
    if (a === undefined || b === undefined) return a ?? b;
    return isBelow(a, b) === sign < 0 ? a : b;
  };
  return {
    min: ofGroups.map(({ field_2: older, field_6: newer }) => narrower(newer, older, 1)),
    max: ofGroups.map(({ field_1: older, field_5: newer }) => narrower(newer, older, -1)),
    nulls: ofGroups.map(({ field_3: count }) => (count === undefined ? undefined : Number(count))),
  };
}

/** Reads a bound. Gives undefined for types that the contract does not have, and for INT96, which has no order. */
export function boundOf(words: string): (value: Uint8Array) => Bound | undefined {
  const [physical = '', annotation = ''] = words.split(' ');
  if (/^(STRING|ENUM)$/.test(annotation)) return (value) => Buffer.from(value);
  const isInteger = /^INT(32|64)$/.test(physical);
  if (!isInteger && !annotation.startsWith('DECIMAL')) return () => undefined;
  return (value) => {
    // A decimal in bytes begins with the highest, an integer with the lowest.
    const hex = Buffer.from(isInteger ? value.toReversed() : value).toString('hex');
    const number = BigInt[annotation.startsWith('UINT') ? 'asUintN' : 'asIntN'](
      8 * value.length,
      BigInt(`0x${hex}`),
    );
    if (annotation.startsWith('TIMESTAMP(MILLIS')) return number * 1_000n;
    if (!annotation.startsWith('TIMESTAMP(NANOS')) return number;
    // A time is cut to the microsecond, downwards.
    return (number - (((number % 1_000n) + 1_000n) % 1_000n)) / 1_000n;
  };
}

/** What is found of a row group: its number, and by column the lowest and highest value and, by a query, their number. */
export type GroupRow = Readonly<Record<string, unknown>>;

/** The number of NULLs. The footer's number of records is that of the pages, which were counted. */
export const nullsIn = ({ rowGroupRows }: Footer, group: GroupRow, column: string): number =>
  (rowGroupRows[Number(group['rowGroup'])] ?? 0) - Number(group[`values ${column}`]);

const asBound = (value: unknown): Bound | undefined =>
  typeof value === 'string' ? Buffer.from(value) : ((value ?? undefined) as Bound | undefined);

/** In words, the first row group of which the footer says something else than its values are. */
export function falseBound(footer: Footer, groups: readonly GroupRow[], column: string): string | undefined {
  const { min, max, nulls } = footer.statistics.get(column) ?? { min: [], max: [], nulls: [] };
  for (const group of groups) {
    const at = Number(group['rowGroup']);
    const [low, high, missing] = [min[at], max[at], nulls[at]];
    const [lowest, highest] = [asBound(group[`lowest ${column}`]), asBound(group[`highest ${column}`])];
    const ofGroup = `in row group ${at + 1}, which has`;
    const isCounted = group[`values ${column}`] !== undefined;
    if (isCounted && missing !== undefined && missing !== nullsIn(footer, group, column))
      return `${missing} NULLs ${ofGroup} ${nullsIn(footer, group, column)}`;
    if (low !== undefined && lowest !== undefined && isBelow(lowest, low))
      return `no value below ${textOf(low)} ${ofGroup} ${textOf(lowest)}`;
    if (high !== undefined && highest !== undefined && isBelow(high, highest))
      return `no value above ${textOf(high)} ${ofGroup} ${textOf(highest)}`;
  }
  return undefined;
}

const textOf = (bound: Bound): string =>
  typeof bound === 'bigint' ? String(bound) : JSON.stringify(bound.toString());
