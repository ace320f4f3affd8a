import { type Column, type Table, TIME_COLUMN } from '../../lib/report/tables.ts';
import type { EventRow } from '../e2e/expected-report.ts';
import { isMeasure } from '../e2e/known-events.ts';

/** Texts that some engines compare, sort or write differently from others. */
const HARD_TEXTS = [
  ...['\u0000', 'a\u0000b', '\u001f', '\r', '\n', '\t', '\u007f', '\u0085', '\u00a0', '\u2028', '\ufeffbom'],
  // One letter, composed and decomposed.
  ...['\u00e9', 'e\u0301'],
  // Sorted by code point, these have this order. Sorted by UTF-16 unit, the third comes first.
  ...['\ue000', '\uffff', '\u{10ffff}'],
  ...['\u{1f468}\u200d\u{1f469}', 'İ', 'ß', 'ﬀ', 'A', 'a', 'Z', 'z', '_', '~', '%'],
  ...[' ', '  ', 'phone ', 'Phone'],
  ...['\\n', 'true', '1', '01', '1.0', "'".repeat(256), '"'.repeat(256), 'x'.repeat(5_000)],
];

const SMALLEST = -9_223_372_036_854_775_808n;
const LARGEST = 9_223_372_036_854_775_807n;
const IDENTIFIERS = [SMALLEST, SMALLEST + 1n, -1n, 0n, LARGEST - 1n, LARGEST, null];

const AMOUNTS = ['999999999999.999999', '-999999999999.999999', '-0.000001'];

/** One record for each text, on the first days of 2026, with the smallest and largest identifiers and amounts. */
export const hardEvents = ({ columns }: Table): EventRow[] =>
  HARD_TEXTS.map((_, row) => {
    const time = `2026-01-0${1 + (row % 3)}T${String(row % 24).padStart(2, '0')}:59:59.999Z`;
    const values = columns.map((column, index) => [column.name, valueIn(column, row + index)] as const);
    return { ...Object.fromEntries(values), [TIME_COLUMN]: time };
  });

function valueIn({ name, type }: Column, nth: number): string | bigint | null {
  const nthOf = <T>(values: readonly T[]): T => values[nth % values.length] as T;
  if (type === 'varchar') return nthOf(HARD_TEXTS);
  if (type === 'bigint') return isMeasure(name) ? BigInt(nth) : nthOf(IDENTIFIERS);
  return nthOf(AMOUNTS);
}
