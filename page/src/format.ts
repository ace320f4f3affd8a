import type { Field } from '../../lib/report/catalogue.ts';
import type { Cell } from './reader/read-csv.ts';

/** Groups digits by three and rounds nothing: `1234567.890000` becomes `1,234,567.890000`. */
export function grouped(digits: string | number): string {
  const [whole = '', fraction] = String(digits).split('.');
  const thousands = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? thousands : `${thousands}.${fraction}`;
}

/** A count with its noun: `1 row`, `2 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** Some of these words, and how many more there are: `a, b and 3 more`. */
export const listed = (words: readonly string[], most: number): string =>
  words.slice(0, most).join(', ') + (words.length > most ? ` and ${grouped(words.length - most)} more` : '');

export function fileSize(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, 'byte');
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(2)} GB`;
}

export function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** The text of a table value, for people: digits in groups, a day without `T00:00:00Z`, an hour without seconds. */
export function shownCell(cell: Cell, field: Field | undefined): string {
  if (cell === null) return '';
  if (field?.role === 'metric') return grouped(cell);
  if (field?.role !== 'dimension' || field.type !== 'datetime') return cell;
  return field.grain === 'day' ? cell.slice(0, 10) : cell.slice(0, 16).replace('T', ' ');
}

/**
 * Rounds a decimal exactly to some places, a half away from zero. The decimal is text, since numbers beyond 2^53 are
 * not exact.
 */
export function rounded(digits: string, places: number): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(digits) ?? [];
  if (whole === '') return digits;
  const isUp = Number(fraction[places] ?? 0) >= 5;
  const scaled = String(
    BigInt(whole + fraction.slice(0, places).padEnd(places, '0')) + (isUp ? 1n : 0n),
  ).padStart(places + 1, '0');
  const point = scaled.length - places;
  const text = places === 0 ? scaled : `${scaled.slice(0, point)}.${scaled.slice(point)}`;
  return /[1-9]/.test(text) ? sign + text : text;
}

/** Totals and charts show amounts to the cent. The table and the tooltip of a total have every digit. */
const CENT_PLACES = 2;

/** The text of a metric for a quick look: an amount is rounded to the cent. */
export const shownMetric = (digits: string | null, isAmount: boolean): string =>
  digits === null ? '–' : grouped(isAmount ? rounded(digits, CENT_PLACES) : digits);

/** Says whether a change is a rise or a fall; undefined if nothing has changed. */
export function directionOf(change: string): 'rise' | 'fall' | undefined {
  if (!/[1-9]/.test(change)) return undefined;
  return change.startsWith('-') ? 'fall' : 'rise';
}

const signed = (text: string): string => (directionOf(text) === 'rise' ? `+${text}` : text);

/** The text of a difference, with its sign. */
export const shownChange = (digits: string | null, isAmount: boolean): string =>
  signed(shownMetric(digits, isAmount));

const RATIO_UNITS = {
  percent: { places: 2, sign: ' %' },
  amount: { places: 3, sign: '' },
  times: { places: 2, sign: '×' },
} as const;

type RatioUnit = keyof typeof RATIO_UNITS;

/** The text of a ratio that the page has derived; a dash if its denominator is zero. */
export const shownRatio = (digits: string | null, unit: RatioUnit): string =>
  digits === null ? '–' : ratioDigits(digits, unit) + RATIO_UNITS[unit].sign;

/**
 * Says how a ratio has changed, `+0.05 from 1.77 %`. If only the period before has a value, says only that value. If
 * the period before has no value, says so.
 */
export function ratioChangeWords(change: string | null, before: string | null, unit: RatioUnit): string {
  if (before === null) return 'no value before';
  const from = `from ${shownRatio(before, unit)}`;
  return change === null ? from : `${signed(ratioDigits(change, unit))} ${from}`;
}

const ratioDigits = (digits: string, unit: RatioUnit): string =>
  grouped(rounded(digits, RATIO_UNITS[unit].places));

/** A short text of a number for an axis, which has little room. */
export const rough = (value: number): string =>
  new Intl.NumberFormat('en', {
    maximumSignificantDigits: 4,
    notation: Math.abs(value) >= 1e6 ? 'compact' : 'standard',
  }).format(value);
